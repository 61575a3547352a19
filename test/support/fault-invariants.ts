import { inspect } from 'node:util';
import { expect } from 'chai';
import { AdvisorChainError, ModelCallError, StructuredOutputError } from '../../src/index.js';
import { invalidReason } from './conversation.js';
import { CANARY, type Fault } from './fault-plan.js';
import type { FaultyTurn, TurnEnd } from './fault-run.js';
import type { ReferenceTurn } from './fault-turns.js';
import { everythingIn, exportedOf } from './recorded-telemetry.js';

/** Remains of a turn that do not depend on time and random ids. */
export interface Journal {
  readonly end: unknown;
  readonly events: readonly string[];
  readonly effects: readonly string[];
  readonly requests: unknown;
  readonly stored: readonly string[];
}

/** A turn without a fault, and the states of its memory. */
export interface CleanTurn {
  readonly journal: Journal;
  /** Numbers of messages that the conversation had after each write. */
  readonly states: readonly number[];
}

export async function journalOf(run: FaultyTurn, { value, error }: TurnEnd): Promise<Journal> {
  return {
    end: error === undefined ? value : (error as Error).message,
    events: run.events.map(({ type }) => type),
    effects: run.effects.map(withoutKey),
    requests: structuredClone(run.model.requests),
    stored: await run.stored(),
  };
}

const withoutKey = (effect: string): string => effect.split(' ').slice(0, 2).join(' ');

/** Expects that each call of each request has its result. (I1, I2) */
export function expectValidRequests({ model }: FaultyTurn): void {
  for (const request of model.requests) expect(invalidReason(request)).to.equal(undefined);
}

/** Expects that each effect happened once, and is in the report of the run. (I4) */
export function expectWholeCalls({ report, effects }: FaultyTurn): void {
  const once = new Set(effects);
  expect(new Set([...once].map(withoutKey)).size, 'keys of a call').to.equal(once.size);
  const repeated = effects.filter((effect, at) => effects.indexOf(effect) !== at);
  expect(
    repeated.filter((effect) => !effect.startsWith('pay')),
    'repeated',
  ).to.deep.equal([]);
  const ran = new Set(effects.map((effect) => effect.split(' ')[1]));
  for (const { call, status, result } of report?.toolCalls ?? []) {
    if (status === 'requested') expect(ran.has(call.id), `${call.id} ran`).to.equal(false);
    if (status === 'finished' && !result?.isError && call.name !== 'toolSearchTool')
      expect(ran.has(call.id), `${call.id} ran`).to.equal(true);
    ran.delete(call.id);
  }
  expect([...ran], 'effects without a record').to.deep.equal([]);
}

/** Expects one end of the turn and of its model calls, and an answer with the usage of all. (I5, I10) */
export function expectOneEnd({ mode, turn, ends, report, events }: FaultyTurn): void {
  if (mode === 'stream' && !turn.schema) expect(ends, 'ends').to.equal(1);
  const ledger = report?.ledger ?? [];
  expect(ledger.map(({ outcome }) => outcome)).to.not.include('pending');
  const last = events.at(-1);
  if (last?.type !== 'response') return;
  const charged = ledger.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0);
  expect(last.response.usage?.totalTokens ?? 0, 'usage').to.equal(charged);
}

/** Expects a typed error with its cause and a report. (I12) */
export function expectTypedEnd(run: FaultyTurn, { error }: TurnEnd, fault: Fault): void {
  const { thrown } = run.plan;
  if (error === undefined) return;
  const isOurs = AdvisorChainError.isInstance(error);
  expect(
    causes(error).some((cause) => thrown.includes(cause as Error)),
    `${inspect(error)} has the cause`,
  ).to.equal(true);
  if (fault.part === 'model') expect(error).to.be.instanceOf(ModelCallError);
  if (fault.part === 'store')
    expect((error as AdvisorChainError).code).to.match(/^memory_(read|write)$/);
  if (!isOurs) expect(thrown).to.include(error);
  if (run.report && !(error instanceof StructuredOutputError))
    expect((error as AdvisorChainError).run, 'report').to.not.equal(undefined);
}

function causes(error: unknown): readonly unknown[] {
  const cause = (error as { cause?: unknown } | undefined)?.cause;
  return cause === undefined ? [error] : [error, ...causes(cause)];
}

/** Expects a documented state of the memory. (I3) */
export function expectWholeTurns(
  stored: readonly string[],
  isAnswered: boolean,
  clean: CleanTurn,
): void {
  const whole = clean.journal.stored;
  expect(whole.slice(0, stored.length), 'a beginning of the turn').to.deep.equal(stored);
  expect(clean.states, 'messages after a write').to.include(stored.length);
  if (isAnswered) expect(stored).to.deep.equal(whole);
}

/** Expects that no canary left its owner, and spans are whole unless telemetry failed. (I6, I8) */
export function expectNoCanary(run: FaultyTurn, { part }: Fault): void {
  const { recording, log, model } = run;
  if (part !== 'telemetry') expect(recording.problems).to.deep.equal([]);
  const sent = everythingIn([recording.spans.map(exportedOf), log.lines, model.requests]);
  expect(sent).to.not.include(CANARY);
}

/** Expects that the inspector has the end of each turn. */
export function expectEndedTurns({ inspector }: FaultyTurn): void {
  const outcomes = inspector.turns().map(({ outcome }) => outcome);
  expect(outcomes).to.not.include('running');
  expect(outcomes.at(-1)).to.equal('answered');
}

/** True for a fault of a part that only observes. */
export function isObserver({ part }: Fault): boolean {
  return part === 'telemetry' || part === 'listener';
}

/** True for a fault that does not change the answer. */
export function isUnchanged(fault: Fault, { retriesModel }: ReferenceTurn): boolean {
  const isRetried = fault.part === 'model' && !fault.forGood && retriesModel === true;
  return isObserver(fault) || isRetried;
}
