import type { Random } from './random.js';

/** Kind of a place: its first word, such as `request`, `step`, `tool`, `memory` or `database`. */
const kindOf = (place: string): string => place.split(' ', 1)[0] ?? '';

/** Places at random, of all kinds equally: most of the places are calls of the database. */
export function samplePlaces(
  places: readonly string[],
  count: number,
  random: Random,
): readonly string[] {
  // prettier-ignore
  const kinds = [...new Set(places.map(kindOf))];
  return Array.from({ length: count }, () => {
    const kind = random.pick(kinds);
    return random.pick(places.filter((place) => kindOf(place) === kind));
  });
}
