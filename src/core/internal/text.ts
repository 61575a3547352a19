import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** The first characters of a text, without splitting a surrogate pair. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength);
}

/**
 * The beginning and the end of a text, two thirds and one third of what is kept, with a note about
 * the cut between them: errors and exit codes stand at the end. Surrogate pairs stay whole.
 */
export function truncateText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : cutMiddle(text, 0, text.length, maxLength);
}

/** Cuts a part, which begins at `start`, of a text of `total` characters. */
export function cutMiddle(part: string, start: number, total: number, maxLength: number): string {
  const kept = Math.ceil((maxLength * 2) / 3);
  const from = Math.min(Math.max(kept - start, 0), part.length);
  const to = Math.min(Math.max(total - (maxLength - kept) - start, from), part.length);
  if (from === to) return part;
  const beginning = truncate(part, from);
  const code = part.charCodeAt(to);
  const end = part.slice(code >= 0xdc00 && code <= 0xdfff ? to + 1 : to);
  const note = `[${part.length - beginning.length - end.length} of ${total} characters cut]`;
  return [beginning, note, end].filter((piece) => piece !== '').join('\n');
}

/** SHA-256 as 64 hexadecimal digits; synchronous, unlike `crypto.subtle.digest`. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** A hash of 32 bits that is fast rather than unique; with a random seed no one can prepare equal ones. */
export function seededHash(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash;
}
