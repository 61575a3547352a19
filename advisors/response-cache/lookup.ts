import { decodeError, encodeError, type EncodedError } from '../../src/core/chat/error-codec.js';
import { decodeResponse, encodeResponse } from '../../src/core/chat/response-codec.js';
import type { StepCodec } from '../../src/core/chat/run-recorder.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import type { ResponseCacheRefusal } from './response-cache-options.js';
import type { Stamps, StoredAnswer } from './response-store.js';

/** An error of the store, without which the turn goes its way. */
interface Failure {
  readonly outcome: 'failed';
  readonly error: unknown;
}

interface Refusal {
  readonly outcome: 'refused';
  readonly reason: ResponseCacheRefusal;
}

/** A request without an answer in the store. */
export interface Miss {
  readonly outcome: 'miss';
  readonly key: string;
  readonly scope: string;
  /** The stamps of its tags before the model is asked. */
  readonly stamps: Stamps;
}

/** The end of a lookup. */
export type Lookup = ({ readonly outcome: 'hit' } & StoredAnswer) | Miss | Refusal | Failure;

/** The end of a write. */
export type Kept = { readonly outcome: 'stored' } | Refusal | Failure;

/** A lookup as a step of a durable turn: a replay needs no store. */
export const LOOKUP: StepCodec<Lookup> = {
  encode: (lookup) => {
    if (lookup.outcome === 'failed') return encodeFailure(lookup);
    if (lookup.outcome !== 'hit') return { ...lookup };
    const { response, similarity, ...rest } = lookup;
    const encoded = encodeResponse(response, 'the answer of the cache');
    return { ...rest, response: encoded, ...(similarity !== undefined && { similarity }) };
  },
  decode: (recorded) => {
    const lookup = recorded as unknown as Lookup;
    if (lookup.outcome === 'failed') return decodeFailure(lookup);
    if (lookup.outcome !== 'hit') return lookup;
    return { ...lookup, response: decodeResponse(lookup.response as unknown as JsonValue) };
  },
};

/** A write as a step of a durable turn, which is made once. */
export const KEPT: StepCodec<Kept> = {
  encode: (kept) => (kept.outcome === 'failed' ? encodeFailure(kept) : { ...kept }),
  decode: (recorded) => {
    const kept = recorded as unknown as Kept;
    return kept.outcome === 'failed' ? decodeFailure(kept) : kept;
  },
};

// the field must not be `error`: a recorder would take the step for one that failed
function encodeFailure({ outcome, error }: Failure): JsonValue {
  return { outcome, cause: encodeError(error) };
}

function decodeFailure(recorded: Failure): Failure {
  const { outcome, cause } = recorded as unknown as Failure & { readonly cause: EncodedError };
  return { outcome, error: decodeError(cause) };
}
