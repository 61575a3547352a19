import type { Document } from '../../core/chat/document.js';
import { Reading, type FileContent, type ReadOptions } from './reading.js';

/**
 * Reads plain text.
 * @throws {@link DocumentReadError} if the bytes are not valid, or a limit is exceeded
 */
export function readText(content: FileContent, options: ReadOptions): Promise<Document> {
  return Reading.run('readText', content, options, (reading) => reading.document(reading.text));
}
