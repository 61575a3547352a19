import { describeDisturbed, type Disturbed, type Operations } from './operations.js';
import type { TurnPlan } from './turn-plan.js';
import { isSteered, type Remains } from './turn-remains.js';
import { REMOVED } from './turn-world.js';

/** Texts of results of calls whose outcome is unknown, or that failed. */
const UNKNOWN = /unknown|interrupted|cancelled|failed|may have|not run/i;

/** Differences between a disturbed turn and an undisturbed one. */
export function differences(
  plan: TurnPlan,
  { disturbed }: Operations,
  clean: Remains,
  seen: Remains,
): readonly string[] {
  const mayMiss = disturbed.some(isOfCall);
  if (hasFailedForGood(plan, disturbed, seen)) return failedForGood(plan, seen);
  const found = [
    endOf(seen),
    differ('answer', [clean.answer ?? ''], [seen.answer ?? ''], false),
    differ('log', withoutSteered(clean.log), withoutSteered(seen.log), mayMiss),
    differ(
      'next request',
      withoutSteered(clean.nextRequest),
      withoutSteered(seen.nextRequest),
      mayMiss,
    ),
    differ(
      'log after the next turn',
      withoutSteered(clean.nextLog),
      withoutSteered(seen.nextLog),
      mayMiss,
    ),
    steered(seen),
    nextOf(seen),
    ...effects(plan, clean, seen, mayMiss),
    ...budget(plan, disturbed, seen),
    seen.nextLog.some((line) => line.includes(REMOVED))
      ? 'the log has what the guard removes'
      : undefined,
  ];
  return found.filter((each) => each !== undefined);
}

/** True for a durable turn whose model has failed: a recorded end like an answer, in each attempt. */
function hasFailedForGood({ kind }: TurnPlan, disturbed: readonly Disturbed[], { end }: Remains) {
  const isOfModel = disturbed.some(({ part, way }) => part === 'model' && way !== 'cancel');
  return kind === 'durable' && isOfModel && !end.response;
}

/** Problems of a turn that has ended with an error: it is not stored, or as an unfinished one. */
function failedForGood({ turnsBefore, keepsPartial, isMemoryInside }: TurnPlan, seen: Remains) {
  const questions = seen.log.filter((line) => line === `user: Q${turnsBefore}`).length;
  const most = keepsPartial || isMemoryInside ? 1 : 0;
  return [
    seen.end.errors.some((each) => each.startsWith('model_call')) ? undefined : endOf(seen),
    questions > most ? `the failed turn is stored ${questions} times` : undefined,
    nextOf(seen),
  ].filter((each) => each !== undefined);
}

function nextOf({ nextError }: Remains): string | undefined {
  return nextError === undefined ? undefined : `next turn: ${nextError}`;
}

/** True for a disturbance after which the outcome of a tool call may be unknown, or a failure. */
function isOfCall({ part, operation, way }: Disturbed): boolean {
  return way === 'cancel' || part === 'tool' || part === 'ledger' || operation === 'step tool';
}

const withoutSteered = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => !isSteered(line));

function endOf({ end }: Remains): string | undefined {
  return end.response ? undefined : `the turn never ends: ${end.errors.join(' | ')}`;
}

function differ(
  what: string,
  expected: readonly string[],
  actual: readonly string[],
  mayMiss: boolean,
): string | undefined {
  const at = Array.from({ length: Math.max(expected.length, actual.length) }, (_, line) => line);
  const first = at.find((line) => !isSame(expected[line], actual[line], mayMiss));
  if (first === undefined) return undefined;
  return `${what}, line ${first}: ${actual[first] ?? 'nothing'}; expected ${expected[first] ?? 'nothing'}\n    ${actual.join('\n    ')}`;
}

function isSame(expected: string | undefined, actual: string | undefined, mayMiss: boolean) {
  if (expected === actual) return true;
  if (!mayMiss || !expected?.startsWith('result ') || !actual) return false;
  const [own] = expected.split(':');
  return actual.startsWith(`${own}:`) && UNKNOWN.test(actual);
}

/** A message that was sent on the way and has arrived is in the log, once. */
function steered({ log, hasSteered }: Remains): string | undefined {
  const count = log.filter(isSteered).length;
  return count === Number(hasSteered) ? undefined : `${count} messages sent on the way are stored`;
}

function effects(plan: TurnPlan, clean: Remains, seen: Remains, mayMiss: boolean) {
  const calls = new Set([...clean.effects.keys(), ...seen.effects.keys()]);
  return [...calls].map((call) => {
    const keys = seen.effects.get(call) ?? [];
    if (!clean.effects.has(call)) return `unexpected effect: ${call}`;
    if (keys.length === 0 && !mayMiss) return `no effect: ${call}`;
    if (new Set(keys).size > 1) return `${keys.length} keys: ${call}`;
    const isOnce = call.startsWith('pay') && (plan.ledger || plan.kind !== 'plain');
    return isOnce && keys.length > 1 ? `${keys.length} effects: ${call}` : undefined;
  });
}

/** Shared budgets count each call that was made once, with the tokens that it reported. */
function budget(
  plan: TurnPlan,
  disturbed: readonly Disturbed[],
  { counts, budget: spent }: Remains,
) {
  const isOpen = disturbed.some(({ part }) => part === 'budget' || part === 'engine');
  if (!plan.budget || isOpen) return [];
  const wrong = (['modelCalls', 'tokens'] as const).filter((each) => spent[each] !== counts[each]);
  const isCancelled = disturbed.some(({ way }) => way === 'cancel');
  return wrong
    .filter((each) => each === 'modelCalls' || !isCancelled)
    .map((each) => `budget: ${spent[each]} ${each}, not ${counts[each]}`);
}

/** A case that went wrong, in words. */
export function describeProblem(
  operations: Operations,
  found: readonly string[],
  { end }: Remains,
): string {
  return `${describeDisturbed(operations.disturbed)}\n  errors: ${end.errors.join(' | ')}\n  ${found.join('\n  ')}`;
}
