import type { HttpError } from '../http/http-error.js';
import type { TurnLog } from '../../stores/turn-logs/turn-log.js';
import type { LogWatch } from './log-watch.js';

/** Settings that the runs and readers of one `TurnStreams` share. */
export interface LogSettings {
  readonly log: TurnLog;
  readonly watch: LogWatch;
  readonly lease: number;
  readonly ttl: number;
  readonly recovery: number;
  readonly writeInterval: number;
  readonly toError: (error: unknown) => HttpError;
  readonly onError: (error: unknown, shown: HttpError) => void;
}
