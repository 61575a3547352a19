/** Everything that a turn leaves behind, with its id replaced: equal for a turn that was not killed. */
export interface TurnOutcome {
  readonly answer: unknown;
  readonly report: unknown;
  readonly memory: unknown;
  readonly text: string;
  /** Number of messages of the user that were sent on the way, and are in the transcript. */
  readonly steered: number;
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

/**
 * Work that was done again although it was recorded, or more often than its process was killed.
 * @param isInterrupted true if the user interrupts a model call, which is made again
 */
export function repeatedWork(
  { work, counts }: Omit<KilledTurn, 'outcome'>,
  isInterrupted = false,
): readonly string[] {
  const { keys, ...steps } = counts;
  const problems = keys === 4 ? [] : [`the effects have ${keys} idempotency keys, not 4`];
  for (const [step, count] of Object.entries(steps)) {
    const mayRepeat = isInterrupted && step.startsWith('model ');
    const most = (work.length + 1) * (mayRepeat ? 2 : 1);
    const limit = WRITE_TOOLS.some((tool) => step.startsWith(tool)) ? 1 : most;
    if (count < 1 || count > limit) problems.push(`${step} has run ${count} times`);
    if (mayRepeat) continue;
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

/** A value with ids that are the same in each turn: its own is replaced, and calls have the model's. */
export function withoutIds(value: unknown, turnId: string): unknown {
  let text = JSON.stringify(value) ?? 'null';
  for (const { id, wireId } of callsIn(value)) text = text.replaceAll(id, wireId);
  return JSON.parse(text.replaceAll(turnId, '<turn>'));
}

type NamedCall = { readonly id: string; readonly wireId: string };

function callsIn(value: unknown): readonly NamedCall[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'wireId' in value ? [value as NamedCall] : [];
  return [...own, ...Object.values(value).flatMap(callsIn)];
}
