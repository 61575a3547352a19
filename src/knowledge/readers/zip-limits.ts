import type { Reading } from './reading.js';

/** A file of an archive. */
interface Entry {
  readonly method: number;
  readonly start: number;
  readonly size: number;
}

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;
const MAX_ENTRIES = 10_000;
/** Files that are not read: they get a name that no part of a document can have. */
const MEDIA = /\.(?:png|jpe?g|gif|emf|wmf|bmp|tiff?|svg|bin|odttf)$/i;
const decoder = new TextDecoder();

/**
 * Checks that the files of a ZIP archive, but for its pictures, have at most `max` bytes in all, by
 * unpacking them piece by piece: the sizes that an archive declares may be wrong. Hides the pictures.
 * @throws {@link DocumentReadError}
 */
export async function checkArchive(reading: Reading, bytes: Uint8Array<ArrayBuffer>, max: number) {
  let total = 0;
  for (const { method, start, size } of entriesOf(reading, bytes)) {
    const packed = bytes.subarray(start, start + size);
    if (method === STORED) total += size;
    else if (method === DEFLATED) total += await unpackedSize(packed, max - total);
    else throw reading.broken(`its archive uses the compression method ${method}`);
    if (total > max)
      throw reading.tooLarge(`it has more than ${max} bytes of XML when it is unpacked`);
  }
}

/** Size of unpacked bytes; a number above `max` as soon as that is reached. */
async function unpackedSize(packed: Uint8Array<ArrayBuffer>, max: number): Promise<number> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const reader = stream.getReader();
  let size = 0;
  for (;;) {
    const { value } = (await reader.read()) as { readonly value?: Uint8Array };
    if (!value) return size;
    size += value.length;
    if (size > max) {
      await reader.cancel();
      return size;
    }
  }
}

/** The files of the central directory. */
function entriesOf(reading: Reading, bytes: Uint8Array<ArrayBuffer>): readonly Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endOf(reading, view);
  const count = view.getUint16(end + 10, true);
  if (count > MAX_ENTRIES) throw reading.tooLarge(`its archive has ${count} files`);
  const entries: Entry[] = [];
  let at = view.getUint32(end + 16, true);
  for (let number = 0; number < count; number++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== CENTRAL)
      throw reading.broken('its archive has a broken directory');
    const size = view.getUint32(at + 20, true);
    const local = view.getUint32(at + 42, true);
    if (local + 30 > bytes.length || view.getUint32(local, true) !== LOCAL)
      throw reading.broken('its archive has a broken entry');
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const nameEnd = at + 46 + view.getUint16(at + 28, true);
    if (MEDIA.test(decoder.decode(bytes.subarray(at + 46, nameEnd)))) bytes[nameEnd - 1] = 0;
    else entries.push({ method: view.getUint16(at + 10, true), start, size });
    const lengths = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    at += 46 + lengths.reduce((sum, length) => sum + length, 0);
  }
  return entries;
}

/** Place of the end record, which is followed by at most 65,535 characters of a comment. */
function endOf(reading: Reading, view: DataView): number {
  const last = view.byteLength - 22;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--)
    if (view.getUint32(at, true) === END) return at;
  throw reading.broken('it is no ZIP archive');
}
