import assert from 'node:assert/strict';
import { CancelledError } from '../../../src/core/errors/errors.js';
import { backoffDelay, delay } from '../../../src/core/internal/backoff.js';
import { Cancellation } from '../../../src/core/internal/cancellation.js';

describe('backoffDelay', () => {
  it('doubles the delay up to the maximum', () => {
    const delays = [0, 1, 2, 3, 2_000].map((retry) =>
      backoffDelay(retry, { first: 200, max: 900 }),
    );

    assert.deepEqual(delays, [200, 400, 800, 900, 900]);
  });

  it('shortens a delay by at most the jitter', () => {
    for (let run = 0; run < 100; run++) {
      const milliseconds = backoffDelay(1, { first: 50, max: 1_000, jitter: 0.25 });

      assert.ok(milliseconds > 75 && milliseconds <= 100, String(milliseconds));
    }
  });
});

describe('delay', () => {
  it('resolves after the time', () => delay(1, new Cancellation()));

  it('rejects when the run is cancelled, and leaves no timer', async () => {
    const run = new Cancellation();
    const waiting = delay(1_000_000, run);
    const reason = new Error('stop');

    run.cancel(reason);

    await assert.rejects(waiting, (error) => {
      assert.ok(error instanceof CancelledError);
      return error.cause === reason;
    });
  });

  it('rejects at once when the run is already cancelled', async () => {
    const run = new Cancellation();
    run.cancel();

    await assert.rejects(delay(1_000_000, run), CancelledError);
  });
});
