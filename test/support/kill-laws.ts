/** Everything that a turn leaves behind, with its id replaced: equal for a turn that was not killed. */
export interface TurnOutcome {
  readonly answer: unknown;
  readonly report: unknown;
  readonly memory: unknown;
  readonly text: string;
}

/** Numbers of model requests and of effects of a turn, by the step that they belong to. */
export type WorkCounts = Readonly<Record<string, number>>;

/** A turn that was killed. */
export interface KilledTurn {
  readonly outcome: TurnOutcome;
  /** The work up to each kill. */
  readonly work: readonly { readonly recorded: ReadonlySet<string>; readonly counts: WorkCounts }[];
  /** The work up to the end. */
  readonly counts: WorkCounts;
}

const WRITE_TOOLS = ['tool send ', 'tool charge '];

/** Work that was done again although it was recorded, or more often than its process was killed. */
export function repeatedWork({ work, counts }: Omit<KilledTurn, 'outcome'>): readonly string[] {
  const { keys, ...steps } = counts;
  const problems = keys === 4 ? [] : [`the effects have ${keys} idempotency keys, not 4`];
  for (const [step, count] of Object.entries(steps)) {
    const limit = WRITE_TOOLS.some((tool) => step.startsWith(tool)) ? 1 : work.length + 1;
    if (count < 1 || count > limit) problems.push(`${step} has run ${count} times`);
    for (const { recorded, counts: before } of work)
      if (recorded.has(step) && count !== before[step])
        problems.push(`${step} was recorded, and has run again`);
  }
  return problems;
}

/** Parts of the outcome that differ, each with the text around its first difference. */
export function differences(whole: TurnOutcome, killed: TurnOutcome): readonly string[] {
  return (Object.keys(whole) as (keyof TurnOutcome)[]).flatMap((part) => {
    const [expected, actual] = [JSON.stringify(whole[part]), JSON.stringify(killed[part])];
    if (expected === actual) return [];
    const at = [...expected].findIndex((char, index) => char !== actual[index]);
    const around = (text: string): string => text.slice(Math.max(0, at - 60), at + 120);
    return [`its ${part} has …${around(actual)}…, not …${around(expected)}…`];
  });
}
