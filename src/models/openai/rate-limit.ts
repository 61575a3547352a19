import type { RateLimit } from '../../chat/chat-response.js';

/** What the headers of an answer say about rate limits. */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  // nearly all servers send both or none: one look-up decides
  if (!headers.has('x-ratelimit-limit-requests') && !headers.has('x-ratelimit-limit-tokens')) return undefined;
  const limit: Record<string, number | string> = {};
  for (const of of ['requests', 'tokens'] as const) {
    keep(limit, `${of}Limit`, countOf(headers.get(`x-ratelimit-limit-${of}`)));
    keep(limit, `${of}Remaining`, countOf(headers.get(`x-ratelimit-remaining-${of}`)));
    keep(limit, `${of}Reset`, headers.get(`x-ratelimit-reset-${of}`));
  }
  return limit;
}

function keep(limit: Record<string, number | string>, name: string, value: number | string | null): void {
  if (value !== null) limit[name] = value;
}

function countOf(text: string | null): number | null {
  const count = Number(text);
  return text === null || text.trim() === '' || !Number.isFinite(count) ? null : count;
}
