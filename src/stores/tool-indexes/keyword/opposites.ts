import type { ToolReference } from '../tool-index.js';
import { STOP_WORDS, termsOf } from '../../texts/terms.js';
import type { Scored } from '../../texts/top-scores.js';

/**
 * Orders tools whose names differ by stop words alone, such as `power_on` and `power_off`, by the stop
 * words of the query: elsewhere these have no meaning, here they are all that decides. Such tools
 * change places with one another, and no others.
 * @param asked words of the query in their order, with stop words
 */
export function separateOpposites(
  ranked: readonly Scored[],
  asked: readonly string[],
  referenceAt: (slot: number) => ToolReference,
): readonly Scored[] {
  const names = ranked.map(({ slot }) => termsOf(referenceAt(slot).name));
  const groups = new Map<string, number[]>();
  for (const [at, { words }] of names.entries()) {
    const key = words.toSorted().join(' ');
    const group = groups.get(key);
    if (group) group.push(at);
    else groups.set(key, [at]);
  }
  const result = [...ranked];
  for (const places of groups.values()) {
    if (places.length === 1) continue;
    const fits = new Map(places.map((at) => [at, fitOf(names[at]?.sequence ?? [], asked)]));
    const ordered = places.toSorted((a, b) => (fits.get(b) ?? 0) - (fits.get(a) ?? 0));
    for (const [index, at] of places.entries()) {
      const { slot } = ranked[ordered[index] as number] as Scored;
      result[at] = { slot, score: (ranked[at] as Scored).score };
    }
  }
  return result;
}

/** Stop words of a name that the query has, without those that it has not; beside a word of the name they count more. */
function fitOf(name: readonly string[], asked: readonly string[]): number {
  let fit = 0;
  for (const [at, word] of name.entries()) {
    if (!STOP_WORDS.has(word)) continue;
    const isBeside = asked.some(
      (one, place) =>
        one === word &&
        ((at > 0 && asked[place - 1] === name[at - 1]) ||
          (at + 1 < name.length && asked[place + 1] === name[at + 1])),
    );
    fit += isBeside ? 2 : asked.includes(word) ? 1 : -1;
  }
  return fit;
}
