import fc, { type Arbitrary } from 'fast-check';
import { anyInspection, type Inspection } from '../inspector-laws.js';
import type { Mode } from '../modes.js';
import type { StoreKind } from '../key-value-stores.js';
import { WAYS, type Disturbance } from './operations.js';

export const KINDS = ['plain', 'paused', 'durable'] as const;

/** A tool by its effect: `look` reads, `save` is idempotent, `pay` writes. */
export type ToolName = 'look' | 'save' | 'pay';

/** A turn, and the chain and the stores that it runs with. */
export interface TurnPlan {
  readonly kind: (typeof KINDS)[number];
  readonly mode: Mode;
  readonly isMemoryInside: boolean;
  readonly keepsPartial: boolean;
  readonly storesTools: boolean;
  readonly ledger: boolean;
  readonly lock: boolean;
  readonly budget: boolean;
  readonly guard: boolean;
  readonly steering: boolean;
  readonly retry: boolean;
  /** True if each attempt has a client of its own, as in another process. */
  readonly isRestarted: boolean;
  /** Ids of calls: the same in each attempt, new ones, or repeated in each answer. */
  readonly ids: 'same' | 'fresh' | 'repeated';
  /** Tools that each answer calls before the last one. */
  readonly calls: readonly (readonly ToolName[])[];
  readonly turnsBefore: number;
  readonly store: StoreKind;
  /** The inspector of the disturbed turn; the undisturbed one has none. */
  readonly inspection: Inspection | undefined;
}

/** A turn, and what disturbs it. */
export interface AttemptCase {
  readonly plan: TurnPlan;
  /** Each `at` is taken modulo the number of operations. */
  readonly disturbances: readonly Disturbance[];
}

const tool = fc.constantFrom<ToolName>('look', 'save', 'pay');
const some = fc.boolean();

/** @param stores kinds of stores, in memory by default */
export const anyPlan = (stores: readonly StoreKind[] = ['memory']): Arbitrary<TurnPlan> =>
  fc.record({
    kind: fc.constantFrom(...KINDS),
    mode: fc.constantFrom<Mode>('call', 'stream'),
    isMemoryInside: some,
    keepsPartial: some,
    storesTools: some,
    ledger: some,
    lock: some,
    budget: some,
    guard: some,
    steering: some,
    retry: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, some),
    isRestarted: some,
    ids: fc.constantFrom<TurnPlan['ids']>('same', 'fresh', 'repeated'),
    calls: fc.array(fc.array(tool, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
    turnsBefore: fc.nat(2),
    store: fc.constantFrom(...stores),
    inspection: anyInspection,
  });

const disturbance: Arbitrary<Disturbance> = fc.record({
  at: fc.nat(200),
  way: fc.constantFrom(...WAYS),
});

export const anyCase = (stores?: readonly StoreKind[]): Arbitrary<AttemptCase> =>
  fc.record({
    plan: anyPlan(stores),
    disturbances: fc.oneof(
      { weight: 4, arbitrary: fc.array(disturbance, { minLength: 1, maxLength: 1 }) },
      fc.array(disturbance, { minLength: 2, maxLength: 3 }),
    ),
  });
