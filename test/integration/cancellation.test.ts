import { spawn } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { CancelledError, type ChatEvent } from '../../src/index.js';
import { Scenario } from '../fixtures/cancellation/scenario.js';
import { cancelAt, REASON, WAYS } from '../fixtures/cancellation/ways.js';

/** Milliseconds; far above what it takes, for a machine under load. */
const BOUND = 2_000;

describe('a streamed turn on a real connection', function () {
  this.timeout(60_000);

  let scenario: Scenario;
  let types: readonly string[];
  const durations: number[] = [];
  let points = 0;

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
    // the first cancellation of a process loads and compiles what the others find there
    await cancelAt(scenario, 'unsubscribe', 0);
  });

  after(async () => {
    await scenario.close();
    const sorted = durations.toSorted((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(1);
    console.log(
      `      ${points} cancellations; ${sorted.length} open connections closed after p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`,
    );
  });

  it('has two iterations with two tools at the same time, and an answer', () => {
    expect(types.filter((type) => type === 'iteration')).to.have.lengthOf(2);
    expect(types.filter((type) => type === 'tool-result')).to.have.lengthOf(4);
    expect(types.at(-1)).to.equal('response');
    expect(types.join()).to.match(/tool-call,(tool-progress,)?tool-call,/);
  });

  for (const way of Object.keys(WAYS)) {
    it(`[F46] ends by ${way}, at every event: connection closed, tools told, nothing begun, nothing emitted`, async () => {
      let toolsTold = 0;
      let closed = 0;
      // the last event is the response: there is nothing left to cancel
      for (const [index, type] of types.slice(0, -1).entries()) {
        const where = `event ${index} (${type})`;
        const turn = await cancelAt(scenario, way, index);
        points++;
        durations.push(...turn.closed);
        closed += turn.closed.length;
        toolsTold += turn.toolsUnderWay.length;

        expect(Math.max(0, ...turn.closed), `${where}: milliseconds to close the connection`).to.be.below(BOUND);
        expect(scenario.open.size, `${where}: requests that run on`).to.equal(0);
        expect(
          turn.toolsUnderWay.map((signal) => signal.aborted),
          `${where}: signals of tools under way`,
        ).not.to.include(false);
        expect(scenario.toolRuns.length, `${where}: tools begun in the end`).to.equal(turn.toolsBegun);
        expect(scenario.requests, `${where}: requests in the end`).to.equal(turn.requests);
        expect(turn.heard.length, `${where}: events in the end`).to.be.at.most(turn.handedOut);
      }
      expect([closed > 0, toolsTold > 0], 'something was under way').to.deep.equal([true, true]);
    });
  }

  it('[F46] ends with a CancelledError that has the reason of the signal, never with a completion', async () => {
    for (const index of types.slice(0, -1).keys()) {
      const { error, completed } = await cancelAt(scenario, 'abort signal', index);

      expect(completed).to.equal(false);
      expect(error).to.be.instanceOf(CancelledError);
      expect((error as CancelledError).cause).to.equal(REASON);
    }
  });

  it('ends in silence when it is unsubscribed', async () => {
    for (const index of types.slice(0, -1).keys())
      expect(await cancelAt(scenario, 'unsubscribe', index)).to.deep.include({ completed: false, error: undefined });
  });

  it('settles the waiting reads of an iterator and of a web stream', async () => {
    for (const way of ['end of for-await', 'ReadableStream cancel'])
      for (const index of types.slice(0, -1).keys())
        expect((await cancelAt(scenario, way, index)).completed, `${way} ${index}`).to.equal(true);
  });

  it('ends at a break out of for-await, after every text', async () => {
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
      scenario.turn().signal(signal).stream().events().subscribe({ error: reject, complete: resolve });
    });
    expect(getEventListeners(signal, 'abort')).to.have.lengthOf(0);
  });

  it('[F103] leaves nothing that keeps a process alive', async () => {
    const child = spawn(process.execPath, [
      '--import',
      'tsx',
      fileURLToPath(new URL('../fixtures/cancellation/exits.ts', import.meta.url)),
    ]);
    let printed = '';
    let done = 0;
    child.stdout.on('data', (piece: Buffer) => {
      printed += piece.toString();
      done = performance.now();
    });
    child.stderr.on('data', (piece: Buffer) => (printed += piece.toString()));
    // the shortest timer that could be left is one of many seconds
    const timer = setTimeout(() => child.kill('SIGKILL'), 50_000);

    const code = await new Promise((resolve) => child.on('exit', resolve));
    clearTimeout(timer);

    expect(printed).to.equal('done\n');
    expect(code).to.equal(0);
    expect(performance.now() - done, 'milliseconds until the process had ended').to.be.below(BOUND);
  });
});
