import type * as MammothPackage from 'mammoth';
import type { Document } from '../../core/chat/document.js';
import { markdownOf } from './read-html.js';
import { missingPackage, Reading, type ReadOptions } from './reading.js';
import { checkArchive } from './zip-limits.js';

/** Bytes of all unpacked XML files: a parser takes a second for each two million. */
const MAX_UNPACKED = 10_000_000;

/**
 * Reads a document of Word (.docx) as Markdown, by `mammoth` and `linkedom`: headings, lists, tables,
 * notes. Pictures are left out.
 * @throws {@link DocumentReadError} if the file is broken or encrypted, or a limit is exceeded, also for
 * more than 10 MB of XML when it is unpacked
 * @throws {@link InvalidArgumentError} if a package is not installed
 */
export function readDocx(content: Uint8Array, options: ReadOptions): Promise<Document> {
  return Reading.run('readDocx', content, options, async (reading) => {
    const { bytes } = reading;
    // an encrypted document is a container of another format
    if (bytes[0] === 0xd0 && bytes[1] === 0xcf)
      throw reading.error('password', 'it is encrypted, or a document of Word 97 to 2003');
    await checkArchive(reading, bytes, MAX_UNPACKED);
    const mammoth = await loadMammoth();
    const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
    // the package takes bytes of Node.js, and an ArrayBuffer in a browser
    const file = { buffer: bytes, arrayBuffer: bytes.buffer };
    const { value } = await mammoth.convertToHtml(file, { convertImage });
    return reading.document(await markdownOf('readDocx', reading, value));
  });
}

async function loadMammoth(): Promise<typeof MammothPackage.default> {
  try {
    // bundlers treat an import in a try block as optional
    return (await import('mammoth')).default;
  } catch (cause) {
    throw missingPackage('readDocx', 'mammoth@^1.11', cause);
  }
}
