export type {
  EventReader,
  EventSource,
  ObservableEvents,
  ResumableEvents,
} from './event-source.js';
export type { FormatName } from './formats.js';
export { errorResponse, toHttpError, type HeaderFields, type HttpError } from './http-error.js';
export { readJsonInput, type ReadJsonInputOptions } from './read-json-body.js';
export { invalidInput, readInput } from './request-input.js';
export type { StreamEncoder, StreamFormat } from './stream-format.js';
export type { NodeIncoming, NodeOutgoing, WrappedIncoming, WrappedOutgoing } from './node-types.js';
export { toNodeHandler, type NodeHandler, type NodeHandlerOptions } from './to-node-handler.js';
export { toResponse, type ToResponseOptions } from './to-response.js';
