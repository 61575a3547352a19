import { responseProblem, type ChatResponse } from '../../src/core/chat/chat-response.js';
import { randomId } from '../../src/core/chat/context.js';
import { decodeResponse, encodeResponse } from '../../src/core/chat/response-codec.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { ChainError } from '../../src/core/errors/errors.js';
import { parseJson, type JsonValue } from '../../src/core/internal/json.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';

/** Settings of a {@link ResponseStore}. */
export interface ResponseStoreSettings {
  readonly store: KeyValueStore;
  /** Lifetime of an answer in milliseconds. */
  readonly ttl: number;
  /** Maximum length of an encoded answer. */
  readonly maxLength: number;
}

/** The random stamp of each tag, by the key of the tag. */
export type Stamps = Readonly<Record<string, string>>;

/** An answer of the store. */
export interface StoredAnswer {
  readonly response: ChatResponse;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  /** Cosine similarity of its question, of one that was found by it. */
  readonly similarity?: number | undefined;
}

type Entry = { readonly stamps: Stamps; readonly storedAt: number; readonly response: JsonValue };

/** Facts about one request, which are wrong for another turn. */
const OF_ITS_TURN = { usage: undefined, rateLimit: undefined };

/**
 * Answers in a store that several processes may share. A tag has a random stamp in the store; an
 * answer has the stamps of its tags, read before the model was asked. To invalidate a tag deletes its
 * stamp, so that no answer has it, neither one that is stored nor one that is on its way: a stamp
 * never comes again, also if the store evicts it.
 */
export class ResponseStore {
  constructor(private readonly settings: ResponseStoreSettings) {}

  /** The answer of a key, unless one of its tags was invalidated. */
  async read(key: string): Promise<StoredAnswer | undefined> {
    const text = await this.settings.store.get(keyOfAnswer(key));
    if (text === undefined) return undefined;
    const { stamps, storedAt, response } = parseJson(text) as Entry;
    if (!(await this.areCurrent(stamps))) return undefined;
    const decoded = decodeResponse(response);
    const problem = responseProblem(decoded);
    if (problem !== undefined) throw new ChainError(`A stored answer must be ${problem}`);
    return { response: decoded, storedAt };
  }

  /** The stamps of tags; a tag without one gets one. */
  async stampsOf(tags: readonly string[]): Promise<Stamps> {
    const keys = [...new Set(tags)].map(keyOfTag);
    return Object.fromEntries(await Promise.all(keys.map((key) => this.stampOf(key))));
  }

  /** Keeps an answer, or returns the reason why not. */
  async write(
    key: string,
    stamps: Stamps,
    response: ChatResponse,
  ): Promise<'not-json' | 'too-long' | 'invalidated' | undefined> {
    const { store, ttl, maxLength } = this.settings;
    const encoded = encode(response);
    if (encoded === undefined) return 'not-json';
    const entry: Entry = { stamps, storedAt: Date.now(), response: encoded };
    const text = JSON.stringify(entry);
    if (text.length > maxLength) return 'too-long';
    // the stamps outlive the answer, and are still the same
    const kept = await Promise.all(
      Object.entries(stamps).map(([tag, stamp]) =>
        store.set(tag, stamp, { expected: stamp, ttl: 2 * ttl }),
      ),
    );
    if (kept.includes(false)) return 'invalidated';
    await store.set(keyOfAnswer(key), text, { ttl });
    return undefined;
  }

  async invalidate(tag: string): Promise<void> {
    await this.settings.store.delete(keyOfTag(tag));
  }

  private async areCurrent(stamps: Stamps): Promise<boolean> {
    const found = await Promise.all(
      Object.entries(stamps).map(async ([tag, stamp]) => {
        return (await this.settings.store.get(tag)) === stamp;
      }),
    );
    return !found.includes(false);
  }

  private async stampOf(key: string): Promise<readonly [string, string]> {
    const { store, ttl } = this.settings;
    for (;;) {
      const known = await store.get(key);
      if (known !== undefined) return [key, known];
      const stamp = randomId();
      if (await store.set(key, stamp, { expected: null, ttl: 2 * ttl })) return [key, stamp];
    }
  }
}

const keyOfAnswer = (key: string): string => `response ${key}`;
const keyOfTag = (tag: string): string => `response-tag ${sha256Hex(tag)}`;

/** Undefined if JSON could not restore a part of the answer. */
function encode(response: ChatResponse): JsonValue | undefined {
  try {
    return encodeResponse(response.with(OF_ITS_TURN), 'the answer');
  } catch (error) {
    if (hasCode(error, 'durable_turn')) return undefined;
    throw error;
  }
}
