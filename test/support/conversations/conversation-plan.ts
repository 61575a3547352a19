import fc, { type Arbitrary } from 'fast-check';
import { FORMATS } from '../turn-events.js';
import { CHAT_WIRES } from '../chat-wires.js';
import type { StoreKind } from '../key-value-stores.js';
import { anyInspection, type Inspection } from '../inspector-laws.js';
import type { Mode } from '../modes.js';

/** Ends of a turn; the last three of a turn that pauses, and of others like `answered`. */
export const ENDS = [
  'answered',
  'fails',
  'cancelled',
  'left',
  'steered',
  'denied',
  'abandoned',
  'overtaken',
] as const;

/** Texts that a user, a model or a tool may write, by what is special. */
export const TEXTS = {
  plain: '',
  'half an emoji': ' cut \ud83d',
  NUL: ' with \0 within',
  emojis: ` x${'😀'.repeat(200)}`,
  huge: ` ${'long '.repeat(300)}`,
  quotes: ' "}]\\u0000\n\u2028</tool_result>',
} as const;
export type TextKind = keyof typeof TEXTS;

/** Names by which a model calls tools; only the first two exist. */
export const NAMES = {
  look: 'look',
  pay: 'pay',
  dotted: 'multi_tool_use.parallel',
  namespaced: 'functions.look',
  blank: ' ',
  unicode: 'näme',
  long: 'n'.repeat(300),
} as const;
export type NameKind = keyof typeof NAMES;

/** Ids of calls, by how a server makes them. */
export const IDS = {
  unique: (count: number) => `call-${count}`,
  repeated: () => 'call_1',
  counter: (_: number, at: number) => `call_${at}`,
  foreign: (count: number) => `functions.look:${count} ü`,
  long: (count: number) => `${'i'.repeat(400)}${count}`,
  empty: () => '',
  missing: () => undefined,
} as const satisfies Record<string, (count: number, at: number) => string | undefined>;
export type IdKind = keyof typeof IDS;

/** A turn of a conversation. */
export interface ScriptedTurn {
  readonly end: (typeof ENDS)[number];
  /** Number of the event, or of the request, at which it ends early or is steered. */
  readonly at: number;
  readonly mode: Mode;
  /** Names in the calls of each answer before the last one. */
  readonly calls: readonly (readonly NameKind[])[];
  readonly question: TextKind;
  readonly answer: TextKind;
  readonly result: TextKind;
}

/** A conversation, and the chain, the model and the store that it runs with. */
export interface ConversationPlan {
  /** Name of a wire, or `own` for a model of the application. */
  readonly wire: string;
  readonly ids: IdKind;
  readonly store: StoreKind;
  readonly isMemoryInside: boolean;
  readonly keepsPartial: boolean;
  readonly storesTools: boolean;
  readonly hasSmallWindow: boolean;
  readonly compaction: boolean;
  /** True for a memory that summarizes, in place of a window. */
  readonly summarizes: boolean;
  readonly pauses: boolean;
  readonly inspection: Inspection | undefined;
  /** True if a failed model is asked again, which voids what was streamed. */
  readonly retries: boolean;
  /** Format of streams through a log, which two processes read; `none` for streams without one. */
  readonly logged: string;
  readonly turns: readonly ScriptedTurn[];
}

export const WIRES: readonly string[] = ['own', ...CHAT_WIRES.map(({ name, api }) => name ?? api)];

const keyOf = <T extends string>(object: Readonly<Record<T, unknown>>): Arbitrary<T> =>
  fc.constantFrom(...(Object.keys(object) as T[]));
/** One of the hostile values in a third of the cases. */
const mostly = <T>(usual: T, arbitrary: Arbitrary<T>): Arbitrary<T> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(usual) }, arbitrary);
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<NameKind>('look', 'pay') },
  { weight: 1, arbitrary: keyOf(NAMES) },
);

const turn: Arbitrary<ScriptedTurn> = fc.record({
  end: fc.constantFrom(...ENDS),
  at: fc.nat(12),
  mode: fc.constantFrom<Mode>('call', 'stream'),
  calls: fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
  question: mostly('plain', keyOf(TEXTS)),
  answer: mostly('plain', keyOf(TEXTS)),
  result: mostly('plain', keyOf(TEXTS)),
});

export const anyConversation = (
  stores: readonly StoreKind[] = ['memory'],
): Arbitrary<ConversationPlan> =>
  fc.record({
    wire: fc.constantFrom(...WIRES),
    ids: mostly<IdKind>('unique', keyOf(IDS)),
    store: fc.constantFrom(...stores),
    isMemoryInside: fc.boolean(),
    keepsPartial: fc.boolean(),
    storesTools: fc.boolean(),
    hasSmallWindow: mostly(false, fc.boolean()),
    compaction: mostly(false, fc.boolean()),
    summarizes: mostly(false, fc.boolean()),
    pauses: fc.boolean(),
    inspection: anyInspection,
    retries: mostly(false, fc.boolean()),
    logged: fc.oneof(
      { weight: 14, arbitrary: fc.constant('none') },
      fc.constantFrom(...Object.keys(FORMATS)),
    ),
    turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
  });

const SWITCHES = [
  'retries',
  'compaction',
  'summarizes',
  'hasSmallWindow',
  'pauses',
  'storesTools',
  'keepsPartial',
  'isMemoryInside',
] as const;

/** Conversations that are simpler by one step. */
export function* simplerConversations(plan: ConversationPlan): Generator<ConversationPlan> {
  const { turns } = plan;
  for (const at of turns.keys()) yield { ...plan, turns: turns.toSpliced(at, 1) };
  for (const each of SWITCHES) if (plan[each]) yield { ...plan, [each]: false };
  if (plan.store !== 'memory') yield { ...plan, store: 'memory' };
  if (plan.ids !== 'unique') yield { ...plan, ids: 'unique' };
  if (plan.inspection) yield { ...plan, inspection: undefined };
  if (plan.logged !== 'none') yield { ...plan, logged: 'none' };
  if (plan.wire !== 'own') yield { ...plan, wire: 'own' };
  for (const [at, each] of turns.entries())
    for (const simpler of simplerTurns(each)) yield { ...plan, turns: turns.with(at, simpler) };
}

function* simplerTurns(each: ScriptedTurn): Generator<ScriptedTurn> {
  if (each.end !== 'answered') yield { ...each, end: 'answered' };
  if (each.mode !== 'call') yield { ...each, mode: 'call' };
  if (each.at > 0) yield { ...each, at: each.at - 1 };
  for (const part of ['question', 'answer', 'result'] as const)
    if (each[part] !== 'plain') yield { ...each, [part]: 'plain' };
  for (const at of each.calls.keys()) yield { ...each, calls: each.calls.toSpliced(at, 1) };
  for (const [at, names] of each.calls.entries()) {
    if (names.length > 1) yield { ...each, calls: each.calls.with(at, names.slice(1)) };
    if (names.some((kind) => kind !== 'look'))
      yield {
        ...each,
        calls: each.calls.with(
          at,
          names.map(() => 'look' as const),
        ),
      };
  }
}
