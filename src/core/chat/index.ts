/** Parts for chat models of your own: `advisor-chain/chat`. @module */
export type { ModelProvider, ModelRun } from './chat-model.js';
export { mergeOptions } from './chat-options.js';
export {
  addUsage,
  type ChatResponseFields,
  type Generation,
  type RateLimit,
} from './chat-response.js';
export { TurnId } from './context.js';
export type { ToolCallPiece } from './open-calls.js';
export { StreamFold } from './stream-fold.js';
export type { OfferedTool } from './tool-definition.js';
export type { Backpressure, Cancellable } from '../internal/cancellation.js';
