// Samples of all variants in turn, and what their ratios are.
import { Process } from './processes.js';
import { VARIANTS, type Variant } from './variants.js';
import type { Scenario } from './work.js';

/** Microseconds a turn. */
type Means = Record<Variant, number>;

/** The rounds of a scenario that count. */
export type Rounds = readonly Readonly<Means>[];

/** Rounds until the code is compiled, which are thrown away, and those that count. */
const WARM_UP = 20;
const ROUNDS = 12;
/** Samples of each variant in a round: short ones in quick turn, so that what else happens on the machine meets all alike. */
const SAMPLES = 8;

/** @param port where the loopback server listens */
export async function takeRounds(scenario: Scenario, port: number): Promise<Rounds> {
  const taken: Means[] = [];
  for (let set = 0; set < scenario.sets; set++) {
    const workers = new Map<Variant, Process>();
    for (const variant of VARIANTS)
      workers.set(
        variant,
        (await Process.start('worker', [variant, scenario.name, String(port)])).process,
      );
    for (let round = 0; round < WARM_UP; round++) await takeRound(scenario, workers);
    for (let round = 0; round < ROUNDS; round++) taken.push(await takeRound(scenario, workers));
    for (const worker of workers.values()) worker.stop();
  }
  return taken;
}

async function takeRound(
  { turns }: Scenario,
  workers: ReadonlyMap<Variant, Process>,
): Promise<Means> {
  const used: Means = { none: 0, again: 0, api: 0, caller: 0, sdk: 0 };
  const ask = async (variant: Variant, question: 'work' | 'flush'): Promise<void> => {
    used[variant] += ((await workers.get(variant)?.ask(question)) as number) / (SAMPLES * turns);
  };
  for (let at = 0; at < SAMPLES; at++) {
    const first = at % VARIANTS.length; // each is the first as often as the others
    for (const variant of [...VARIANTS.slice(first), ...VARIANTS.slice(0, first)])
      await ask(variant, 'work');
  }
  for (const variant of VARIANTS) await ask(variant, 'flush');
  return used;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[at] as number)
    : ((sorted[at - 1] as number) + (sorted[at] as number)) / 2;
};

/** Median of the ratios of the rounds, with the lowest and the highest. */
export function ratio(rounds: Rounds, variant: Variant, base: Variant = 'none'): string {
  const ratios = rounds.map((round) => round[variant] / round[base]);
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)})`;
}
