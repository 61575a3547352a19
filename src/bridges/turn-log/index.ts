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
export {
  TurnStreams,
  type ResumeTurnOptions,
  type StartedTurn,
  type StartTurnOptions,
  type TurnOwner,
  type TurnStreamsOptions,
} from './turn-streams.js';
