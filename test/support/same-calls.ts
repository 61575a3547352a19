import type { ToolCall } from '../../src/index.js';
import * as compared from '../../src/core/advisor/progress-detector.js';

/** Compares two batches of calls. */
export function sameCalls(a: readonly ToolCall[], b: readonly ToolCall[]): boolean {
  const [first, second] = [a, b].map((calls) =>
    calls.map((call) => new compared.ComparedCall(call)),
  );
  return compared.sameCalls(first ?? [], second ?? []);
}
