import { inspect } from 'node:util';
import { expect } from 'chai';
import { config } from 'rxjs';
import {
  expectNoCanary,
  expectOneEnd,
  expectTypedEnd,
  expectValidRequests,
  expectWholeCalls,
  expectWholeTurns,
  isObserver,
  expectEndedTurns,
  isUnchanged,
  journalOf,
  type CleanTurn,
  type Journal,
} from './fault-invariants.js';
import { CANARY, describeFault, faultsOf, type Fault } from './fault-plan.js';
import { FaultyTurn } from './fault-run.js';
import { resourcesLeftBy } from './held-resources.js';
import { REFERENCE_TURNS, type ReferenceTurn } from './fault-turns.js';
import { MODES, type Mode } from './modes.js';

/** Turns that run at the same time: the end of each waits for a few timers. */
const AT_ONCE = 16;

/** Makes every n-th operation of every part of the reference turns fail, and checks what is left. */
export function describeFaultSweep({ every }: { readonly every: number }): void {
  describe('a turn whose n-th operation fails', function () {
    this.timeout(300_000);
    const { onUnhandledError } = config;
    const { now } = Date;
    const unhandled: unknown[] = [];
    before(() => {
      // errors of listeners and telemetry are reported, and change no turn
      config.onUnhandledError = (error) => void unhandled.push(error);
      // parallel tools take turns after some milliseconds of work: on a slow machine the n-th
      // operation would be of another call
      const start = now();
      Date.now = () => start;
    });
    after(() => {
      config.onUnhandledError = onUnhandledError;
      Date.now = now;
    });

    for (const mode of MODES)
      for (const [name, turn] of Object.entries(REFERENCE_TURNS))
        it(`[F35] [F51] [F53] [F61] [F100] keeps every invariant: ${name} (${mode})`, async () => {
          const clean = await runClean(turn, mode);
          const faults = faultsOf(clean.counts).filter((_, at) => at % every === 0);
          const problems: string[] = [];
          const check = (fault: Fault): Promise<unknown> =>
            checkFault(turn, mode, fault, clean).catch((error: unknown) =>
              problems.push(`${describeFault(fault)}: ${inspect(error)}`),
            );
          const left = await resourcesLeftBy(async () => {
            for (let at = 0; at < faults.length; at += AT_ONCE)
              await Promise.all(faults.slice(at, at + AT_ONCE).map(check));
            // errors of observers are reported by timers
            await new Promise((resolve) => setTimeout(resolve, 5));
          });
          expect(problems).to.deep.equal([]);
          expect(left, 'timers and sockets').to.deep.equal([]);
          const foreign = unhandled.splice(0).filter((error) => !String(error).includes(CANARY));
          expect(foreign, 'unhandled errors').to.deep.equal([]);
        });
  });
}

async function runClean(turn: ReferenceTurn, mode: Mode) {
  const run = new FaultyTurn(turn, mode);
  await run.storeTurnBefore();
  const states = [2];
  const append = run.repository.append.bind(run.repository);
  run.repository.append = async (...args) => {
    const version = await append(...args);
    states.push(version);
    return version;
  };
  const end = await run.run('1?');
  expect(end.error).to.equal(undefined);
  expect(run.recording.problems).to.deep.equal([]);
  return { journal: await journalOf(run, end), states, counts: new Map(run.plan.counts) };
}

async function checkFault(
  turn: ReferenceTurn,
  mode: Mode,
  fault: Fault,
  clean: CleanTurn,
): Promise<void> {
  const run = new FaultyTurn(turn, mode, fault);
  const journal = await runFault(run, fault, clean);
  if (fault.part !== 'telemetry') {
    const again = await runFault(new FaultyTurn(turn, mode, fault), fault, clean);
    expect(again, 'the same fault').to.deep.equal(journal);
  }
  await expectNextTurn(run, turn);
}

/** Runs a turn with a fault, and checks what it leaves. */
async function runFault(run: FaultyTurn, fault: Fault, clean: CleanTurn): Promise<Journal> {
  await run.storeTurnBefore();
  const end = await run.run('1?');
  const journal = await journalOf(run, end);
  if (isUnchanged(fault, run.turn)) expect(journal.end).to.deep.equal(clean.journal.end);
  if (isObserver(fault)) expect(journal).to.deep.equal(clean.journal);
  expect(run.plan.thrown, 'faults').to.not.be.empty;
  expectValidRequests(run);
  expectWholeCalls(run);
  expectOneEnd(run);
  expectTypedEnd(run, end, fault);
  expectWholeTurns(journal.stored, end.error === undefined, clean);
  expectNoCanary(run, fault);
  expect(run.listeners, 'listeners of the signal').to.equal(0);
  return journal;
}

/** Expects that the next turn of the same client succeeds, with a valid request. */
async function expectNextTurn(run: FaultyTurn, turn: ReferenceTurn): Promise<void> {
  const text = turn.schema ? '{"n":2}' : 'Next.';
  run.plan.disarm();
  run.model.script = [text];
  const { value, error } = await run.run('2?');
  expect(error).to.equal(undefined);
  expect(value).to.deep.equal(turn.schema ? { n: 2 } : text);
  expectValidRequests(run);
  expectEndedTurns(run);
  if (turn.hasMemory) expect((await run.stored()).slice(-2)).to.deep.equal(['2?', text]);
}
