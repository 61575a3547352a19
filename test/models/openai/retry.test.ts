import { expect } from 'chai';
import { ModelCallError } from '../../../src/index.js';
import { withRetries } from '../../../src/models/openai/retry.js';

const passing = (retryAfter?: number): ModelCallError => new ModelCallError('busy', { retryable: true, retryAfter });
const NEVER = new AbortController().signal;

/** Fails with these errors in turn, then answers. */
function attempts(...errors: readonly unknown[]): { readonly run: () => Promise<string>; readonly times: number[] } {
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
  it('tries a passing failure again until it succeeds', async () => {
    const { run, times } = attempts(passing(1), passing(0));

    expect(await withRetries({ maxRetries: 2, signal: NEVER }, run)).to.equal('done');
    expect(times).to.have.length(3);
  });

  it('gives the last error when it may not try again', async () => {
    const last = passing(1);
    const { run, times } = attempts(passing(1), last, passing(1));

    expect(await failure(withRetries({ maxRetries: 1, signal: NEVER }, run))).to.equal(last);
    expect(times).to.have.length(2);
  });

  for (const error of [new ModelCallError('no'), new TypeError('a bug'), 'a text']) {
    it(`does not try ${String(error)} again`, async () => {
      const { run, times } = attempts(error);

      expect(await failure(withRetries({ maxRetries: 3, signal: NEVER }, run))).to.equal(error);
      expect(times).to.have.length(1);
    });
  }

  it('waits for as long as the server asks', async () => {
    const { run, times } = attempts(passing(60));

    await withRetries({ maxRetries: 1, signal: NEVER }, run);

    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.within(55, 2_000);
  });

  it('waits about half a second where the server asks for nothing', async () => {
    const { run, times } = attempts(passing());

    await withRetries({ maxRetries: 1, signal: NEVER }, run);

    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.within(370, 2_500);
  });

  it('tells the caller at once if the server asks for more than a minute', async () => {
    const error = passing(61_000);
    const { run, times } = attempts(error);

    expect(await failure(withRetries({ maxRetries: 3, signal: NEVER }, run))).to.equal(error);
    expect(times).to.have.length(1);
  });

  it('[F49] does not try again when the signal is aborted, and does not wait either', async () => {
    const controller = new AbortController();
    const error = passing(50_000);
    const { run, times } = attempts(error);
    const outcome = failure(withRetries({ maxRetries: 3, signal: controller.signal }, run));
    setTimeout(() => controller.abort(), 5);

    expect(await outcome).to.equal(error);
    expect(times).to.have.length(1);
  });

  it('[F49] does not try again what failed by the abort', async () => {
    const controller = new AbortController();
    let tries = 0;
    const error = await failure(
      withRetries({ maxRetries: 3, signal: controller.signal }, async () => {
        tries++;
        controller.abort();
        throw passing(0);
      }),
    );

    expect(error).to.be.instanceOf(ModelCallError);
    expect(tries).to.equal(1);
  });
});
