import { sha256Hex } from '../chat/hash.js';
import type { ToolReference } from './tool-index.js';

const fingerprints = new WeakMap<ToolReference, string>();
const setFingerprints = new WeakMap<readonly ToolReference[], string>();

/** A hash of everything that an index reads of a tool; of a reference that was seen before at once. SHA-256, 64 hexadecimal digits. */
export function referenceFingerprint(reference: ToolReference): string {
  let fingerprint = fingerprints.get(reference);
  if (fingerprint === undefined) fingerprints.set(reference, (fingerprint = sha256Hex(textOf(reference))));
  return fingerprint;
}

/** The same hash for lists with the same tools, whatever their order. */
export function toolSetFingerprint(references: readonly ToolReference[]): string {
  let fingerprint = setFingerprints.get(references);
  if (fingerprint === undefined)
    setFingerprints.set(references, (fingerprint = sha256Hex(references.map(referenceFingerprint).sort().join())));
  return fingerprint;
}

/** Whether two lists have the same tools, whatever their order. Hashes nothing where a look is enough. */
export function isSameToolSet(one: readonly ToolReference[], other: readonly ToolReference[]): boolean {
  if (one.length !== other.length) return false;
  if (one.every((reference, at) => reference === other[at])) return true;
  return sizeOf(one) === sizeOf(other) && toolSetFingerprint(one) === toolSetFingerprint(other);
}

const sizes = new WeakMap<readonly ToolReference[], number>();

/** Of what lists with the same tools have in common, what is quickest to tell. */
function sizeOf(references: readonly ToolReference[]): number {
  let size = sizes.get(references);
  if (size === undefined) {
    size = references.reduce((sum, { name, description }) => sum + name.length * 4_096 + description.length, 0);
    sizes.set(references, size);
  }
  return size;
}

let unlike = 0;

function textOf({ name, description, inputSchema, category }: ToolReference): string {
  try {
    return JSON.stringify([name, description, inputSchema, category]);
  } catch {
    return `unlike any other: ${unlike++}`; // a schema that is not plain JSON is the same as no other one
  }
}
