import { expect } from 'chai';
import { CancelledError, ModelCallError } from '../../../src/index.js';
import { withRetries } from '../../../src/models/http/retries.js';

const passing = (retryAfter?: number): ModelCallError =>
  new ModelCallError('busy', { retryable: true, retryAfter });

/** Fails with these errors in turn, then answers. */
function attempts(...errors: readonly unknown[]): {
  readonly run: () => Promise<string>;
  readonly times: number[];
} {
  const times: number[] = [];
  return {
    times,
    run: async () => {
      const error = errors[times.push(performance.now()) - 1];
      if (error === undefined) return 'done';
      throw error as Error;
    },
  };
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('withRetries', () => {
  it('retries a temporary failure until it succeeds', async () => {
    const { run, times } = attempts(passing(1), passing(0));

    expect(await withRetries(2, {}, run)).to.equal('done');
    expect(times).to.have.length(3);
  });

  it('throws the last error when no retry is left', async () => {
    const last = passing(1);
    const { run, times } = attempts(passing(1), last, passing(1));

    expect(await failure(withRetries(1, {}, run))).to.equal(last);
    expect(times).to.have.length(2);
  });

  for (const error of [new ModelCallError('no'), new TypeError('a bug'), 'a text']) {
    it(`does not retry ${String(error)}`, async () => {
      const { run, times } = attempts(error);

      expect(await failure(withRetries(3, {}, run))).to.equal(error);
      expect(times).to.have.length(1);
    });
  }

  it('waits for the time that the server asks for', async () => {
    const { run, times } = attempts(passing(60));

    await withRetries(1, {}, run);

    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.within(55, 2_000);
  });

  it('waits about half a second by default', async () => {
    const { run, times } = attempts(passing());

    await withRetries(1, {}, run);

    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.within(370, 2_500);
  });

  it('throws at once if the server asks for more than a minute', async () => {
    const error = passing(61_000);
    const { run, times } = attempts(error);

    expect(await failure(withRetries(3, {}, run))).to.equal(error);
    expect(times).to.have.length(1);
  });

  it('[F49] ends the wait without a retry when the signal aborts', async () => {
    const controller = new AbortController();
    const { run, times } = attempts(passing(50_000));
    const outcome = failure(withRetries(3, { signal: controller.signal }, run));
    setTimeout(() => controller.abort('enough'), 5);

    expect(await outcome)
      .to.be.instanceOf(CancelledError)
      .and.include({ cause: 'enough' });
    expect(times).to.have.length(1);
  });

  it('[F49] does not retry a failure that an abort caused', async () => {
    const controller = new AbortController();
    let tries = 0;
    const error = await failure(
      withRetries(3, { signal: controller.signal }, async () => {
        tries++;
        controller.abort();
        throw passing(0);
      }),
    );

    expect(error).to.be.instanceOf(CancelledError);
    expect(tries).to.equal(1);
  });
});
