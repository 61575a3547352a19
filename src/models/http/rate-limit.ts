import type { RateLimit } from '../../chat/chat-response.js';

/** Rate limits from the headers `x-ratelimit-*` of a response. */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  // nearly all servers send both or none: one look-up decides
  if (!headers.has('x-ratelimit-limit-requests') && !headers.has('x-ratelimit-limit-tokens'))
    return undefined;
  const limit: Record<string, number | string> = {};
  const set = (name: string, value: number | string | null): void => {
    if (value !== null) limit[name] = value;
  };
  for (const unit of ['requests', 'tokens'] as const) {
    set(`${unit}Limit`, toNumber(headers.get(`x-ratelimit-limit-${unit}`)));
    set(`${unit}Remaining`, toNumber(headers.get(`x-ratelimit-remaining-${unit}`)));
    set(`${unit}Reset`, headers.get(`x-ratelimit-reset-${unit}`));
  }
  return limit;
}

function toNumber(text: string | null): number | null {
  const number = Number(text);
  return text === null || text.trim() === '' || !Number.isFinite(number) ? null : number;
}
