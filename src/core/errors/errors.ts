/** The errors of the package; a code is the name of its class, so that it leads to the class. */
export { AdvisorChainError } from './advisor-chain-error.js';
export * from './argument-errors.js';
export * from './durable-errors.js';
export * from './knowledge-errors.js';
export * from './model-errors.js';
export * from './store-errors.js';
export * from './tool-errors.js';
export * from './turn-errors.js';
