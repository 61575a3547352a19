import type { Document } from '../../src/core/chat/document.js';
import type { StepCodec } from '../../src/core/chat/run-recorder.js';
import { toJson } from '../../src/core/internal/json-data.js';
import type { JsonValue } from '../../src/core/internal/json.js';

/** The documents of a recorded retrieval. */
export const DOCUMENTS_STEP: StepCodec<readonly Document[]> = {
  encode: (documents) => ({ documents: toJson(documents, 'the documents') }),
  decode: (recorded) =>
    (recorded as { readonly documents: JsonValue }).documents as unknown as readonly Document[],
};
