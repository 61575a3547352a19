import type { Document, DocumentMetadata } from '../../src/core/chat/document.js';
import { jsonStep, type StepCodec } from '../../src/core/chat/run-recorder.js';

/** The memories that a turn has found: a replayed turn gets the same ones, also deleted ones. */
export const MEMORIES_FOUND: StepCodec<readonly Document[]> = {
  encode: (memories) => ({ memories: memories.map(encodeMemory) }),
  decode: (recorded) => (recorded as { readonly memories: readonly EncodedMemory[] }).memories,
};

/** The number of memories of a write, which is made once. */
export const MEMORIES_WRITTEN: StepCodec<{ readonly count: number }> = jsonStep();

type EncodedMemory = {
  readonly id: string;
  readonly text: string;
  readonly metadata?: DocumentMetadata;
  readonly score?: number;
};

function encodeMemory({ id, text, metadata, score }: Document): EncodedMemory {
  return { id, text, ...(metadata && { metadata }), ...(score !== undefined && { score }) };
}
