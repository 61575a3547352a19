import type { ToolContextValues } from '../chat/chat-options.js';
import { CONVERSATION_ID, ContextKey, type TurnId } from '../chat/context.js';
import type { ToolCall } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import type { Cancellable } from '../internal/cancellation.js';
import { describe, sha256Hex } from '../internal/text.js';
import { canonicalJson, type JsonValue } from '../internal/json.js';
import type { ToolContext } from '../tool/tool.js';
import { parseArguments } from './check-call.js';

/** Fields from which the context of a call is created. */
export interface ToolContextFields extends Pick<
  ToolContext,
  'call' | 'values' | 'advisorContext' | 'progress'
> {
  readonly turn: TurnId;
  /**
   * Counts earlier calls of the conversation with the same id: not every model gives each call its
   * own.
   */
  readonly calledBefore: () => number;
  readonly cancellation: Cancellable;
}

const created = new WeakMap<ToolContext, ToolContextFields>();

/** Creates the context of a call; its signal and its key are created on first access. */
export function createToolContext(fields: ToolContextFields): ToolContext {
  const { call, values, advisorContext, progress, cancellation } = fields;
  let key: string | undefined;
  const context: ToolContext = {
    call,
    get signal() {
      return cancellation.signal;
    },
    values,
    get: ({ name, defaultValue }) =>
      Object.hasOwn(values, name) ? (values[name] as typeof defaultValue) : defaultValue,
    advisorContext,
    progress,
    get idempotencyKey() {
      return (key ??= idempotencyKey(fields));
    },
  };
  created.set(context, fields);
  return context;
}

/** The fields of a context; undefined for a context that an advisor created. */
export function fieldsOf(context: ToolContext): ToolContextFields | undefined {
  return created.get(context);
}

/**
 * Hashes the conversation, the turn, the call and its arguments as the model wrote them (as
 * values), so that an advisor that replaces the arguments or retries the call does not change the
 * key.
 */
export function idempotencyKey({
  call,
  advisorContext,
  turn,
  calledBefore,
}: Pick<ToolContextFields, 'call' | 'advisorContext' | 'turn' | 'calledBefore'>): string {
  const conversation = advisorContext.get(CONVERSATION_ID) ?? null;
  return sha256Hex(
    canonicalJson([conversation, turn.id, call.id, calledBefore(), argumentsOf(call)]),
  );
}

function argumentsOf(call: ToolCall): JsonValue {
  try {
    return parseArguments(call.arguments);
  } catch {
    return call.arguments; // invalid JSON: no tool runs, but keys of different texts still differ
  }
}

/** Values for tools by name, or one value under the name of a key, with the key's type. */
export type ToolContextInput<T> =
  readonly [values: ToolContextValues] | readonly [key: ContextKey<T>, value: NonNullable<T>];

/** @throws {@link InvalidArgumentError} if the value or the key of a pair is missing */
export function toolContextValues(
  input: ToolContextInput<unknown>,
  where: string,
): ToolContextValues {
  const [first] = input;
  if (input.length < 2 && !(first instanceof ContextKey)) return first;
  if (input.length < 2)
    throw new InvalidArgumentError(
      `${where}: expected a value for the key "${String(first.name)}"`,
    );
  if (typeof first?.name !== 'string')
    throw new InvalidArgumentError(
      `${where}: expected a ContextKey and its value, or an object of named values, not ${describe(first)}`,
    );
  return { [first.name]: input[1] };
}
