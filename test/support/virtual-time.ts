import { mock } from 'node:test';
import { settle } from './promises.js';

/** Milliseconds of a step. */
const STEP = 50;

/** The time of `setTimeout` and `performance.now`, which tests move on. */
export class VirtualTime {
  private time = 0;

  /** Replaces the time of the process; {@link restore} brings it back. */
  start(): void {
    this.time = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => this.time);
  }

  restore(): void {
    mock.timers.reset();
    mock.restoreAll();
  }

  /** Lets time pass, and everything happen that is due meanwhile. */
  async pass(milliseconds: number): Promise<void> {
    await settle();
    for (const end = this.time + milliseconds; this.time < end; await settle()) {
      const step = Math.min(STEP, end - this.time);
      this.time += step;
      mock.timers.tick(step);
    }
  }

  /** Lets time pass until work ends; returns its result and the elapsed milliseconds. */
  async until<T>(work: Promise<T>): Promise<{ readonly value: T; readonly time: number }> {
    const start = this.time;
    let ended = false;
    const running = work.finally(() => (ended = true));
    running.catch(() => undefined); // it is awaited below
    for (await settle(); !ended;) await this.pass(STEP);
    return { value: await running, time: this.time - start };
  }
}
