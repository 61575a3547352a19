import type { ResponseEvent } from '../../core/chat/chat-event.js';
import type { Usage } from '../../core/chat/chat-response.js';

/** Names of AG-UI by the names of {@link Usage}. */
const NAMES = {
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
  totalTokens: 'totalTokens',
  cachedInputTokens: 'cachedInputTokens',
  cacheWriteTokens: 'cacheWriteInputTokens',
  reasoningTokens: 'reasoningTokens',
} as const satisfies Record<keyof Usage, string>;

/** Tokens of the calls that this run has made, by model. */
export function tokensOf({ response, run }: ResponseEvent): readonly object[] {
  const calls = run?.ledger.filter(({ isReplayed }) => !isReplayed) ?? [response];
  const sums = new Map<string | undefined, Record<string, number>>();
  for (const { model, usage } of calls) {
    if (!usage) continue;
    const sum = sums.get(model) ?? {};
    sums.set(model, sum);
    for (const name of Object.keys(NAMES) as (keyof Usage)[]) add(sum, NAMES[name], usage[name]);
  }
  return [...sums].map(([model, sum]) => ({ ...(model !== undefined && { model }), ...sum }));
}

function add(sum: Record<string, number>, name: string, count: number | undefined): void {
  const total = (sum[name] ?? 0) + (count ?? 0);
  if (count !== undefined && Number.isSafeInteger(total) && total >= 0) sum[name] = total;
}
