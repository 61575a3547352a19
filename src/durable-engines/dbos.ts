export { DbosTurns, type StartOptions } from './dbos-turns.js';
export type { DbosQueueOptions, DbosTurn, DbosTurnsOptions } from './dbos-turns-options.js';
export { dbosEngine } from './turn-execution.js';
export type { Drained, DrainOptions } from './drain.js';
