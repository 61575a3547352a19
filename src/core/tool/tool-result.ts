import type { ToolResult } from '../chat/chat-event.js';
import { type ToolMessage, isContentPart } from '../chat/message.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import { safeJson } from '../internal/safe-json.js';
import { checkOption, rule, withMethods } from '../internal/options.js';
import { resultText } from './result-text.js';

/** Value and error of a result may be anything. One function for all results: a long turn keeps many. */
const TO_JSON: PropertyDescriptor = {
  value(this: ToolResult) {
    return safeJson({ ...this });
  },
};

const RESULT = Symbol.for('advisor-chain.tool-result');

/**
 * Makes a result with more than a value: content for the model (by default the text of the value),
 * deferred tools to unlock or lock, values for the advisors. A tool returns it. A list without parts
 * is no content: providers refuse it.
 *
 * `content` is the way to show media to the model. Parts in a value are text: data of a service may
 * look like them, and some providers get the media of results in a message of the user.
 */
export function toolResult<Value>(result: Partial<ToolResult<Value>>): ToolResult<Value> {
  const { content, value } = result;
  const isContent = typeof content === 'string' || (Array.isArray(content) && content.length > 0);
  const shown = Array.isArray(content) ? value : (content ?? value);
  return Object.defineProperty(
    { ...result, content: isContent ? content : resultText(shown) },
    RESULT,
    { value: true },
  );
}

export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && RESULT in value;
}

/** A copy that neither its tool nor a listener can change; value and error are the application's. */
export function ownResult(
  result: ToolResult,
  content: ToolMessage['content'] = result.content,
): ToolResult {
  const { unlocks, locks } = result;
  const lists = { ...(unlocks && { unlocks }), ...(locks && { locks }) };
  const shown =
    content.length === 0 && typeof content !== 'string' ? resultText(undefined) : content;
  const own = { ...result, ...frozenCopy({ content: shown, ...lists }) };
  return Object.freeze(Object.defineProperty(own, 'toJSON', TO_JSON));
}

/** @throws {@link InvalidArgumentError} if a result has content or context of another type */
export function checkToolResult({ content, context }: ToolResult): void {
  checkOption('tool result', 'content', content, CONTENT);
  if (context !== undefined) checkOption('tool result', 'context', context, CONTEXT);
}

const CONTEXT = withMethods('an AdvisorContext', 'changesSince');
export const CONTENT = rule(
  'a string or content parts',
  (value) => typeof value === 'string' || (Array.isArray(value) && value.every(isContentPart)),
);
