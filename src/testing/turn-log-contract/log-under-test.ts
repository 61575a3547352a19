import assert from 'node:assert/strict';
import type { BegunRun, LogBatch, NewRun, TurnLog } from '../../stores/turn-logs/turn-log.js';

/** Properties of every log, by test title; each check has a new key, and a second connection. */
export type TurnLogLaws = Readonly<
  Record<string, (log: TurnLog, key: string, other: TurnLog) => Promise<void>>
>;

const LONG = 3_600_000;
/** A time that ends during a test. */
export const SHORT = 10;
export const TIMES = { lease: LONG, ttl: LONG };

/** Begins a run with long times. */
export function begin(log: TurnLog, key: string, run: Partial<NewRun> = {}): Promise<BegunRun> {
  return log.begin(key, { writer: 'writer', ...TIMES, ...run });
}

/** Appends entries with long times. */
export function append(
  log: TurnLog,
  key: string,
  batch: Pick<LogBatch, 'generation' | 'after' | 'entries'> & Partial<LogBatch>,
): ReturnType<TurnLog['append']> {
  return log.append(key, { writer: 'writer', ...TIMES, ...batch });
}

/** All entries of a run. */
export async function entriesOf(
  log: TurnLog,
  key: string,
  generation?: number,
): Promise<readonly string[] | undefined> {
  return (await log.read(key, { generation, after: 0, limit: 1_000 }))?.entries;
}

/** Waits until the lease of a run is over by the clock of the store. */
export async function untilSilent(log: TurnLog, key: string): Promise<void> {
  for (;;) {
    const page = await log.read(key, { after: 0, limit: 1 });
    assert.ok(page, 'the log is kept longer than the lease');
    if (page.silence > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
