import {
  type AssistantMessage,
  callsOf,
  type Metadata,
  textOf,
  type ToolCall,
} from '../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { toFilePart, type Dialect } from './files.js';

/** Key of the fields of the AI SDK in the metadata of messages and calls. */
const KEY = 'ai-sdk';

/**
 * A part of an answer as kept in the metadata of its message, in order. Texts and reasoning are
 * pieces of the message's own, so that nothing is stored twice and a change of the message counts.
 */
export type KeptPart =
  | { readonly type: 'text' | 'reasoning'; readonly length: number; readonly options?: unknown }
  /** The next call of the message; its options are in the metadata of the call. */
  | { readonly type: 'call' }
  | {
      readonly type: 'file' | 'reasoning-file';
      readonly file: JsonObject;
      readonly options?: unknown;
    }
  /** A call that the provider ran, its result, or another part in the form of a request. */
  | { readonly type: 'part'; readonly part: JsonObject };

/** Metadata of a message; undefined if its texts and calls are all there is. */
export function toMessageMetadata(
  provider: string,
  parts: readonly KeptPart[],
): Metadata | undefined {
  const isPlain = parts.every(
    (part, at) =>
      part.type === 'call' || (part.type === 'text' && part.options === undefined && at === 0),
  );
  return isPlain ? undefined : { [KEY]: { provider, parts } };
}

/** Metadata of a call with the options to send back. */
export function toCallMetadata(provider: string, options: unknown): Metadata | undefined {
  return options === undefined ? undefined : { [KEY]: { provider, options } };
}

/** The content of an assistant message: its own parts in order, if this provider wrote them. */
export function toAssistantParts(
  message: AssistantMessage,
  provider: string,
  dialect: Dialect,
): readonly unknown[] {
  const calls = callsOf(message).map((call) => toCallPart(call, provider));
  const kept = fieldsOf(message.metadata, provider)?.['parts'];
  const rest = { text: textOf(message), reasoning: message.reasoning ?? '' };
  const parts = Array.isArray(kept) ? (kept as readonly KeptPart[]) : [];
  const isWhole = (type: keyof typeof rest): boolean =>
    rest[type].length === lengthOf(parts, type) && parts.some((part) => part.type === type);
  const whole = { text: isWhole('text'), reasoning: isWhole('reasoning') };
  const content = parts.flatMap((part): readonly unknown[] => {
    switch (part.type) {
      case 'call':
        return calls.splice(0, 1);
      case 'part':
        return [part.part];
      case 'file':
      case 'reasoning-file': {
        const file = toFilePart({ type: 'file', ...part.file }, dialect);
        return [withOptions({ ...file, type: part.type }, part.options)];
      }
      case 'text':
      case 'reasoning': {
        const { type, length, options } = part;
        // a change of the text voids its pieces; signed reasoning cannot be changed
        const text = whole[type] ? rest[type].slice(0, length) : type === 'text' ? rest.text : '';
        rest[type] = rest[type].slice(text.length);
        if (!whole[type]) return text === '' ? [] : [{ type, text }];
        return text === '' && options === undefined ? [] : [withOptions({ type, text }, options)];
      }
    }
  });
  const first = rest.text === '' ? [] : [{ type: 'text', text: rest.text }];
  return [...content, ...first, ...calls];
}

function lengthOf(parts: readonly KeptPart[], type: string): number {
  return parts.reduce(
    (sum, part) => sum + ('length' in part && part.type === type ? part.length : 0),
    0,
  );
}

/** The fields of metadata, if they are of this provider: signatures of another are refused. */
function fieldsOf(metadata: Metadata | undefined, provider: string): JsonObject | undefined {
  const fields = metadata?.[KEY];
  return isPlainObject(fields) && fields['provider'] === provider ? fields : undefined;
}

function toCallPart({ id, name, arguments: text, metadata }: ToolCall, provider: string): unknown {
  const part = { type: 'tool-call', toolCallId: id, toolName: name, input: toInput(text) };
  return withOptions(part, fieldsOf(metadata, provider)?.['options']);
}

/** Arguments as an object, which providers need; broken ones are in the result of their call. */
export function toInput(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A part of a request with what its provider needs back. */
export function withOptions(part: JsonObject, options: unknown): JsonObject {
  return options === undefined ? part : { ...part, providerOptions: options };
}
