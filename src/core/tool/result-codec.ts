import { AdvisorContext, ContextKey } from '../chat/context.js';
import type { ToolResult } from '../chat/chat-event.js';
import type { ToolMessage } from '../chat/message.js';
import { jsonData } from '../internal/json-data.js';
import { parseJson, type JsonValue } from '../internal/json.js';
import { decodeMessage, encodeMessage } from '../chat/message-codec.js';

/** A result as text, for a store. */
export interface EncodedResult {
  readonly text: string;
  /** False if the value or the context of the result is left out, since JSON cannot restore it. */
  readonly isWhole: boolean;
}

interface StoredResult {
  /** Encoded as in chat memory, so that bytes survive. */
  readonly message: string;
  readonly value?: JsonValue;
  readonly unlocks?: readonly string[];
  readonly locks?: readonly string[];
  readonly context?: readonly (readonly [name: string, value: JsonValue])[];
}

/** @throws {@link InvalidArgumentError} if the content has a part that JSON cannot restore */
export function encodeResult(result: ToolResult): EncodedResult {
  const { content, isError, value, unlocks, locks, context } = result;
  const message: ToolMessage = { role: 'tool', toolCallId: 'call', toolName: 'tool', content };
  const data = { value: jsonData(value), context: context && jsonData([...context.entries()]) };
  const stored = {
    message: encodeMessage(isError ? { ...message, isError } : message),
    ...(unlocks && { unlocks }),
    ...(locks && { locks }),
    ...data,
  };
  const isWhole =
    (value === undefined || data.value !== undefined) &&
    (context === undefined || data.context !== undefined);
  return { text: JSON.stringify(stored), isWhole };
}

/** @throws {@link JsonError} or {@link InvalidArgumentError} if the text is not an encoded result */
export function decodeResult(text: string): ToolResult {
  const { message, context, ...rest } = parseJson(text) as unknown as StoredResult;
  const { content, isError } = decodeMessage(message) as ToolMessage;
  return {
    content,
    ...(isError && { isError }),
    ...rest,
    ...(context && { context: toContext(context) }),
  };
}

function toContext(entries: NonNullable<StoredResult['context']>): AdvisorContext {
  return entries.reduce(
    (context, [name, value]) => context.with(new ContextKey<unknown>(name), value),
    AdvisorContext.empty,
  );
}
