export { fromUIMessages, type FromUIMessagesOptions, type UIInput } from './from-ui-messages.js';
export { toUIMessageStream, type UIMessageChunksOptions } from './to-ui-message-stream.js';
export {
  SealedHistory,
  type SealedHistoryInput,
  type SealedHistoryInputOptions,
  type SealedHistoryOptions,
} from './sealed-history.js';
export {
  toUIMessageStreamResponse,
  uiMessageStream,
  type UIMessageResponseOptions,
  type UIMessageStreamOptions,
} from './ui-message-stream.js';
export type { InferUIDataParts, InferUITools } from './ui-types.js';
export type { UIFinishReason, UIMessageChunk, UIMessageMetadata } from './ui-message-chunk.js';
export { visibleParts, type UIPart } from './visible-parts.js';
