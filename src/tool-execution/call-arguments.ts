import type { ToolCall } from '../chat/message.js';
import { JsonError } from '../errors.js';
import { jsonKey, parseJson, type JsonValue } from '../internal/json.js';
import { describe } from '../internal/text.js';

/**
 * The arguments of a call as a value; blank text, `null` and a missing text mean no arguments.
 * @throws {@link JsonError} if the text is not JSON
 */
export function parseArguments(text: string | null | undefined): JsonValue {
  if (typeof (text ?? '') !== 'string')
    throw new JsonError(`they must be the text of a JSON object, not ${describe(text)}`);
  return text?.trim() ? (parseJson(text) ?? {}) : {};
}

/** A call to compare with several others: its arguments are parsed once, if their texts differ. */
export class ComparedCall {
  private key: string | undefined;

  constructor(readonly call: ToolCall) {}

  equals(other: ComparedCall): boolean {
    if (this.call.name !== other.call.name) return false;
    return this.call.arguments === other.call.arguments || this.toKey() === other.toKey();
  }

  private toKey(): string {
    return (this.key ??= argumentsKey(this.call));
  }
}

/** Compares two batches by their names and arguments as values. */
export function sameCalls(a: readonly ComparedCall[], b: readonly ComparedCall[]): boolean {
  return a.length === b.length && a.every((call, at) => call.equals(b[at] as ComparedCall));
}

export function isSameCall(a: ToolCall, b: ToolCall): boolean {
  return new ComparedCall(a).equals(new ComparedCall(b));
}

/** A text that is equal for equal arguments; of invalid JSON, the text itself. */
export function argumentsKey({ arguments: text }: ToolCall): string {
  try {
    const key = text?.trim() ? jsonKey(text) : '{}';
    return key === 'null' ? '{}' : key;
  } catch {
    return text;
  }
}
