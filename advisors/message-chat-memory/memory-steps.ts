import type { StepCodec } from '../../src/core/chat/run-recorder.js';
import { decodeMessage, encodeMessage } from '../../src/core/chat/message-codec.js';
import type { MemorySnapshot } from '../../src/stores/chat-memory/chat-memory.js';

/**
 * The conversation that a turn has read: a replayed turn gets neither its own messages nor messages
 * of other turns that were stored since.
 */
export const MEMORY_READ: StepCodec<MemorySnapshot> = {
  encode: ({ version, messages }) => ({ version, texts: messages.map(encodeMessage) }),
  decode: (recorded) => {
    const { version, texts } = recorded as { readonly version: number; readonly texts: string[] };
    return { version, messages: texts.map(decodeMessage) };
  },
};

/** The version of the conversation after a write, which is made once. */
export const MEMORY_WRITE: StepCodec<number> = {
  encode: (version) => ({ version }),
  decode: (recorded) => (recorded as { readonly version: number }).version,
};
