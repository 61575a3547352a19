import { InvalidArgumentError } from '../errors/errors.js';

/**
 * The known name that was meant, or else advice: the end of a message about an unknown name.
 * @param advice for a name that is near to no known one; @default the known names
 */
export function nameHint(name: string, known: readonly string[], advice?: string): string {
  const nearest = known
    .map((each) => ({ each, distance: distanceOf(name.toLowerCase(), each.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (nearest && nearest.distance <= MAX_DISTANCE) return `did you mean \`${nearest.each}\`?`;
  return advice ?? `there are ${known.join(', ')}`;
}

/** Share of the letters that may differ. */
const MAX_DISTANCE = 0.4;

/** From 0 for equal names to 1; a part of a name is nearer to it than a misspelt one. */
function distanceOf(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  const share = edits(short, long) / long.length;
  return short.length >= 3 && long.includes(short) ? share * MAX_DISTANCE : share;
}

/** Number of letters to add, remove or replace. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...a].entries()) {
    const next = [at + 1];
    for (let i = 0; i < b.length; i++) {
      const replaced = (row[i] ?? 0) + (letter === b[i] ? 0 : 1);
      next.push(Math.min(replaced, (row[i + 1] ?? 0) + 1, (next[i] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * For a name that belongs elsewhere, here or in other libraries: `undefined` in place of it would fail
 * without the way to go.
 * @throws {@link InvalidArgumentError} always
 */
export function useInstead(advice: string): never {
  throw new InvalidArgumentError(`use ${advice}`);
}
