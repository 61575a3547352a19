export {
  InMemoryTurnLog,
  type InMemoryTurnLogOptions,
} from '../../stores/turn-logs/in-memory-turn-log.js';
export { CheckedTurnLog } from '../../stores/turn-logs/checked-turn-log.js';
export type {
  BegunRun,
  LogBatch,
  LogPage,
  LogPosition,
  NewRun,
  TurnLog,
} from '../../stores/turn-logs/turn-log.js';
export type { LoggedEvents } from './logged-events.js';
export { TurnStreams, type StartedTurn } from './turn-streams.js';
export type {
  ResumeTurnOptions,
  StartTurnOptions,
  TurnOwner,
  TurnStreamsOptions,
} from './turn-streams-options.js';
