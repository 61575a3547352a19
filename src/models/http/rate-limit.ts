import type { RateLimit } from '../../core/chat/chat-response.js';

/** Names of a header by what it reports (`limit`, `remaining`, `reset`) of a unit. */
const FAMILIES: readonly ((report: string, unit: string) => string)[] = [
  (report, unit) => `x-ratelimit-${report}-${unit}`,
  (report, unit) => `anthropic-ratelimit-${unit}-${report}`,
];
const UNITS = ['requests', 'tokens'];

/** The rate limits in the headers of a response; undefined if there are none. */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  // nearly all servers send the limits of both units or none
  const family = FAMILIES.find((name) => UNITS.some((unit) => headers.has(name('limit', unit))));
  if (!family) return undefined;
  const fields = UNITS.flatMap((unit) => {
    const read = (report: string) => headers.get(family(report, unit))?.trim() || undefined;
    return [
      [`${unit}Limit`, Number(read('limit'))],
      [`${unit}Remaining`, Number(read('remaining'))],
      [`${unit}Reset`, read('reset')],
    ];
  });
  return Object.fromEntries(
    fields.filter(([, value]) => typeof value === 'string' || Number.isFinite(value)),
  ) as RateLimit;
}
