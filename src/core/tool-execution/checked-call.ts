import type { CheckedCall, ToolCall } from '../chat/message.js';
import { frozenCopy } from '../internal/frozen-copy.js';

/**
 * A copy of a call with its checked arguments; the call itself if there are none. The input is not
 * enumerable, so that JSON, copies and comparisons have the call as the model wrote it.
 */
export function checkedCall(call: ToolCall, input: unknown): CheckedCall {
  if (input === undefined) return call;
  let copy: { readonly input: unknown } | undefined;
  // few listeners read it, and arguments may be large; the tool gets a copy of its own
  const get = (): unknown => (copy ??= { input: frozenCopy(input) }).input;
  return Object.freeze(Object.defineProperty({ ...call }, 'input', { get }));
}
