import type { ToolReference } from '../../tool-search/tool-index.js';

/** Everything that a reference has; undefined if it is no plain JSON, which equals no other. */
export function contentOf(reference: ToolReference): string | undefined {
  try {
    return JSON.stringify(reference);
  } catch {
    return undefined;
  }
}

/** Differs in each process, so that nobody can write tools with equal hashes. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** A hash of 32 bits, fast rather than unique: equal ones are compared by content. */
export function hashOf(content: string): number {
  let hash = SEED;
  for (let at = 0; at < content.length; at++) {
    hash = Math.imul(hash ^ content.charCodeAt(at), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash;
}
