import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** A process that opens a database, executes a statement, and keeps its lock until its input ends. */
const KEEPER = `
  const Database = require('libsql');
  const [file, sql] = process.argv.slice(1);
  const database = new Database(file);
  database.exec(sql);
  process.stdin.on('end', () => database.close()).resume();
  console.log('locked');`;

/** A process that takes and frees the lock at random until its input ends. */
const LOCKER = `
  const Database = require('libsql');
  const { setTimeout: delay } = require('node:timers/promises');
  const [file, sql] = process.argv.slice(1);
  const database = new Database(file);
  database.exec('PRAGMA busy_timeout = 10000');
  let isEnded = false;
  process.stdin.on('end', () => (isEnded = true)).resume();
  (async () => {
    while (!isEnded) {
      database.exec(sql);
      console.log('locked');
      await delay(Math.random() * 80);
      database.exec('COMMIT');
      await delay(Math.random() * 20);
    }
  })();`;

/** Keeps other writers out. */
export const WRITE_LOCK = 'BEGIN IMMEDIATE';
/** Keeps readers out too, if the database has no write-ahead log. */
export const FULL_LOCK = 'BEGIN EXCLUSIVE';

/** Locks a database from another process; the function that is returned frees it. */
export const lockDatabase = (file: string, sql: string): Promise<() => Promise<void>> =>
  startLocker(KEEPER, file, sql);

/** Locks a database for 0 to 80 ms again and again, until the function that is returned is called. */
export const lockAtRandom = (file: string): Promise<() => Promise<void>> =>
  startLocker(LOCKER, file, WRITE_LOCK);

async function startLocker(code: string, file: string, sql: string): Promise<() => Promise<void>> {
  const args = ['--eval', code, file, sql];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [printed] = (await Promise.race([once(child.stdout, 'data'), ended])) as [unknown];
  if (!String(printed).startsWith('locked\n'))
    throw new Error(`the locker ended with ${String(printed)}`);
  child.stdout.resume();
  return async () => {
    child.stdin.end();
    await ended;
  };
}

/** Longest time that the event loop is blocked until the function that is returned is called, in ms. */
export function watchEventLoop(): () => number {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  return () => {
    histogram.disable();
    return histogram.max / 1e6;
  };
}
