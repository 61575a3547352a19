import type { TurnLog } from '../../stores/turn-logs/turn-log.js';
import type { HttpError } from '../http/http-error.js';

/** Options of `TurnStreams`. */
export interface TurnStreamsOptions {
  /** The log, such as a `RedisTurnLog` or a `PostgresTurnLog`; an `InMemoryTurnLog` for one process. */
  readonly log: TurnLog;
  /** Milliseconds for which the log of a run is kept after its end. @default 600_000 */
  readonly ttl?: number | undefined;
  /**
   * Milliseconds after which a run is taken for dead if its process does not write to the log. It
   * writes every second, or three times in a lease.
   * @default 10_000
   */
  readonly lease?: number | undefined;
  /**
   * Milliseconds for which readers wait for a durable turn to be continued, and for which runs and
   * readers wait for a store that is away. @default 60_000
   */
  readonly recovery?: number | undefined;
  /** Milliseconds between two writes of a run: its events between them are written together. @default 25 */
  readonly writeInterval?: number | undefined;
  /** The form in which clients see the error of a run. @default toHttpError */
  readonly toError?: ((error: unknown) => HttpError) | undefined;
  /**
   * Receives the error of each run with the form that clients see, once.
   * @default `console.error` from status 500 on
   */
  readonly onError?: ((error: unknown, shown: HttpError) => void) | undefined;
}

/** Owner of a run. */
export interface TurnOwner {
  /** Id of the user: for others, there is no such run. Keys of different owners never meet. @default none */
  readonly owner?: string | undefined;
}

/** Options of `TurnStreams.start`. */
export interface StartTurnOptions extends TurnOwner {
  /**
   * Id of a durable turn: a process that starts the turn again continues the log that the dead one has
   * left. Events have no `isReplayed`: each is in the log once.
   * @default none: a run whose process ends is lost
   */
  readonly turnId?: string | undefined;
}

/** Options of `TurnStreams.resume`. */
export interface ResumeTurnOptions extends TurnOwner {
  /** Id of the last event that the client has: the header `Last-Event-ID`. @default none: all events */
  readonly lastEventId?: string | null | undefined;
}
