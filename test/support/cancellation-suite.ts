import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { CancelledError, type ChatEvent } from '../../src/index.js';
import { Scenario } from '../fixtures/cancellation/scenario.js';
import { cancelAt, REASON, WAYS } from '../fixtures/cancellation/ways.js';

/** Bound in milliseconds, far above the usual duration, for a machine under load. */
const BOUND = 2_000;

/** Cancels a streamed turn at every n-th event in every way. */
export function describeCancellation({ every }: { readonly every: number }): void {
  describe('a streamed turn on a real connection', function () {
    this.timeout(60_000);

    let scenario: Scenario;
    let types: readonly string[];
    const durations: number[] = [];
    let points = 0;

    /** Every n-th event, without the last: after the response there is nothing left to cancel. */
    const cancelPoints = (): readonly (readonly [number, string])[] =>
      [...types.slice(0, -1).entries()].filter(([index]) => index % every === 0);

    before(async () => {
      scenario = await Scenario.start();
      const events: ChatEvent[] = [];
      await new Promise<void>((resolve, reject) => {
        scenario
          .turn()
          .stream()
          .events()
          .subscribe({ next: (event) => events.push(event), error: reject, complete: resolve });
      });
      types = events.map((event) => event.type);
      // the first cancellation of a process loads and compiles code, which would take time in a test
      await cancelAt(scenario, 'unsubscribe', 0);
    });

    after(async () => {
      await scenario.close();
      const sorted = durations.toSorted((a, b) => a - b);
      const at = (share: number): string =>
        (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(1);
      console.log(
        `      ${points} cancellations; ${sorted.length} open connections closed after p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`,
      );
    });

    it('has two iterations with two tools at the same time, and an answer', () => {
      expect(types.filter((type) => type === 'iteration')).to.have.lengthOf(2);
      expect(types.filter((type) => type === 'tool-result')).to.have.lengthOf(4);
      expect(types.at(-1)).to.equal('response');
      expect(types.join()).to.match(/tool-call,tool-start,(tool-progress,)?tool-call,/);
    });

    for (const way of Object.keys(WAYS)) {
      it(`[F46] closes the connection, aborts the tools and emits nothing more after ${way} at every event`, async () => {
        let abortedTools = 0;
        let closed = 0;
        for (const [index, type] of cancelPoints()) {
          const where = `event ${index} (${type})`;
          const turn = await cancelAt(scenario, way, index);
          points++;
          durations.push(...turn.closed);
          closed += turn.closed.length;
          abortedTools += turn.runningTools.length;

          expect(
            Math.max(0, ...turn.closed),
            `${where}: milliseconds to close the connection`,
          ).to.be.below(BOUND);
          expect(scenario.open.size, `${where}: requests that run on`).to.equal(0);
          expect(
            turn.runningTools.map((signal) => signal.aborted),
            `${where}: signals of running tools`,
          ).not.to.include(false);
          expect(scenario.toolRuns.length, `${where}: tools started in the end`).to.equal(
            turn.startedTools,
          );
          expect(scenario.requests, `${where}: requests in the end`).to.equal(turn.requests);
          expect(turn.received.length, `${where}: events in the end`).to.be.at.most(turn.emitted);
        }
        expect([closed > 0, abortedTools > 0], 'something was running').to.deep.equal([true, true]);
      });
    }

    it('[F46] ends with a CancelledError that has the reason of the signal, never with a completion', async () => {
      for (const [index] of cancelPoints()) {
        const { error, completed } = await cancelAt(scenario, 'abort signal', index);

        expect(completed).to.equal(false);
        expect(error).to.be.instanceOf(CancelledError);
        expect((error as CancelledError).cause).to.equal(REASON);
      }
    });

    it('emits neither an error nor a completion after unsubscribe', async () => {
      for (const [index] of cancelPoints())
        expect(await cancelAt(scenario, 'unsubscribe', index)).to.deep.include({
          completed: false,
          error: undefined,
        });
    });

    it('settles pending reads of an iterator and of a web stream', async () => {
      for (const way of ['end of for-await', 'ReadableStream cancel'])
        for (const [index] of cancelPoints())
          expect((await cancelAt(scenario, way, index)).completed, `${way} ${index}`).to.equal(
            true,
          );
    });

    it('ends at a break out of for await after every text', async () => {
      const texts = types.filter((type) => type === 'text-delta').length;
      for (let stop = 1; stop <= texts; stop++) {
        let begun = 0;
        let seen = 0;
        for await (const text of scenario.turn().stream()) {
          expect(text).not.to.equal('');
          begun = scenario.toolRuns.length;
          if (++seen === stop) break;
        }
        await scenario.closing(performance.now());
        expect(scenario.open.size).to.equal(0);
        expect(scenario.toolRuns.length).to.equal(begun);
      }
    });

    it('[F54] leaves no listener on the signal, cancelled or not', async () => {
      for (const index of [0, 3, 8, 12, types.length - 1]) {
        const { signal } = await cancelAt(scenario, 'abort signal', index);
        expect(getEventListeners(signal as AbortSignal, 'abort')).to.have.lengthOf(0);
      }
      const { signal } = new AbortController();
      await new Promise<void>((resolve, reject) => {
        scenario
          .turn()
          .signal(signal)
          .stream()
          .events()
          .subscribe({ error: reject, complete: resolve });
      });
      expect(getEventListeners(signal, 'abort')).to.have.lengthOf(0);
    });
  });
}
