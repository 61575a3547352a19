/** A run that begins or continues, and its writer. */
export interface NewRun {
  /** Random id of the writer; the same if the operation is repeated after a broken connection. */
  readonly writer: string;
  /** Id of a durable turn: an unfinished log of the same turn is continued, not replaced. */
  readonly turnId?: string | undefined;
  /** Milliseconds after each operation of the writer in which it alone may write. */
  readonly lease: number;
  /** Milliseconds for which the log is kept after its end, or after the lease of a writer that has died. */
  readonly ttl: number;
}

/** The answer to a run that wants to begin. */
export interface BegunRun {
  /**
   * `begun`: the writer may append; `running`: another writer has the lease; `complete`: the log of
   * this durable turn has its end already.
   */
  readonly state: 'begun' | 'running' | 'complete';
  /** Number of the run: larger than the number of each earlier run of the key, also of those that have expired. */
  readonly generation: number;
  /** Number of entries that the log has. */
  readonly length: number;
}

/** Entries that follow each other. */
export interface LogBatch {
  readonly generation: number;
  readonly writer: string;
  /** Number of entries before these. */
  readonly after: number;
  readonly entries: readonly string[];
  /** Ends the log with these entries. */
  readonly end?: 'complete' | 'failed' | undefined;
  readonly lease: number;
  readonly ttl: number;
}

/** The place where a reader is. */
export interface LogPosition {
  /** The run. @default the latest one */
  readonly generation?: number | undefined;
  /** Number of entries that the reader has. */
  readonly after: number;
  /** Maximum number of entries. */
  readonly limit: number;
}

/** Entries of a log. */
export interface LogPage {
  readonly generation: number;
  /** The entries after the position, in order; empty if there are none yet. */
  readonly entries: readonly string[];
  readonly turnId: string | undefined;
  /**
   * Milliseconds since the lease of the writer has ended; 0 while it has it and for a run that has
   * ended, `Infinity` for one that another run has followed.
   */
  readonly silence: number;
}

/**
 * A place for the events of turns, by key. Every operation is atomic, and may be repeated after a
 * broken connection: it is done once. Times are measured by the clock of the store.
 *
 * A log keeps the latest run of a key and the one before it, so that slow readers find their end.
 * Keys are non-blank strings of at most 768 characters, entries strings of at most 4,000,000; neither
 * has NUL or unpaired surrogates. Operations reject with a {@link TurnLogError} if the store fails.
 */
export interface TurnLog {
  /**
   * Begins a run under a key, unless the lease of another writer lasts. It continues the log of the
   * same durable turn if that has no end, and no other one.
   */
  begin(key: string, run: NewRun): Promise<BegunRun>;
  /**
   * Appends entries that the log does not have yet, and prolongs the lease, also without entries.
   * Resolves with whether a stop was asked for; with undefined, and appends nothing, if the writer has
   * lost the log or entries before these are missing.
   */
  append(key: string, batch: LogBatch): Promise<{ readonly isStopped: boolean } | undefined>;
  /** The entries after a position; undefined without such a run. */
  read(key: string, position: LogPosition): Promise<LogPage | undefined>;
  /** Asks the writer to stop; resolves with false if the latest run is another one, or has ended. */
  stop(key: string, generation: number): Promise<boolean>;
}
