/** Tokens of one model call, or of all calls of a turn. A count that the provider did not report is absent, not zero. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Input tokens that were read from the provider's prompt cache. */
  readonly cachedInputTokens?: number;
  /** Output tokens that were spent on reasoning. */
  readonly reasoningTokens?: number;
}

/** The sum of two usages; undefined only if both are. */
export function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (!a || !b) return a ?? b;
  const cached = addOptional(a.cachedInputTokens, b.cachedInputTokens);
  const reasoning = addOptional(a.reasoningTokens, b.reasoningTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

function addOptional(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
