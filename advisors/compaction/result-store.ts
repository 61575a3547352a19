import { KeyValueError } from '../../src/core/errors/errors.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { truncateText } from '../../src/core/internal/text.js';

/** Maximum number of characters that are kept; the middle of a longer result is lost. */
const MAX_LENGTH = 4_000_000;
/** Seconds after which a store that does not answer has failed: the turn waits for it. */
const TIMEOUT = 10;

/** Keeps the texts of results, each can be read with its scope and its id. */
export class ResultStore {
  /** @param ttl milliseconds for which a text can be read */
  constructor(
    private readonly store: Pick<KeyValueStore, 'get' | 'set'>,
    private readonly ttl: number,
  ) {}

  /** Keeps a text under an id. */
  async keep(text: string, scope: string, id: string): Promise<string> {
    const key = resultKey(scope, id);
    await inTime('set', key, this.store.set(key, storable(text), { ttl: this.ttl }));
    return id;
  }

  async find(id: string, scope: string): Promise<string | undefined> {
    const key = resultKey(scope, id);
    return inTime('get', key, this.store.get(key));
  }
}

async function inTime<T>(operation: 'get' | 'set', key: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const cause = new Error(`it did not answer within ${TIMEOUT} seconds`);
      reject(new KeyValueError({ operation, key, outcome: 'unknown', cause }));
    }, TIMEOUT * 1_000);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

function resultKey(scope: string, id: string): string {
  return `advisor-chain.result:${scope}:${id}`;
}

/** A text that every store can keep, with the same offsets: without NUL. */
function storable(text: string): string {
  return truncateText(text, MAX_LENGTH).replaceAll('\0', '\ufffd');
}
