export { DbosTurns } from './dbos-turns.js';
export type {
  DbosQueueOptions,
  DbosTurn,
  DbosTurnsOptions,
  ForkOptions,
  ResultOptions,
  StartOptions,
} from './dbos-turns-options.js';
export type { Drained, DrainOptions } from './drain.js';
export { dbosEngine } from './turn-executions.js';
export type { TurnSchedule } from './turn-schedule.js';
export type { DbosTurnStatus } from './turn-status.js';
export type { RecordedStep } from './turn-steps.js';
