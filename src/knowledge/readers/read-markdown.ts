import type { Document } from '../../core/chat/document.js';
import { splitFrontMatter } from './front-matter.js';
import { Reading, type FileContent, type ReadOptions } from './reading.js';

const TITLE = /^ {0,3}# +(\S.*)$/m;

/**
 * Reads Markdown. Its front matter becomes metadata: texts, numbers, booleans and lists of them; values
 * with fields of their own are left out. Without a `title` there, the first heading of level 1 is it.
 * @throws {@link DocumentReadError} if the bytes are not valid, or a limit is exceeded
 */
export function readMarkdown(content: FileContent, options: ReadOptions): Promise<Document> {
  return Reading.run('readMarkdown', content, options, (reading) => {
    const { text, values } = splitFrontMatter(reading.text);
    const title = TITLE.exec(text.slice(0, 10_000))?.[1]?.trim();
    return reading.document(text, { title, ...values });
  });
}
