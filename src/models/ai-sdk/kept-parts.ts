import {
  type AssistantMessage,
  callsOf,
  type Metadata,
  textOf,
  type ToolCall,
} from '../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { base64, sourceOf, type Media } from './files.js';

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
  | { readonly type: 'part'; readonly part: JsonObject }
  /** A request for an approval, which no model gets. */
  | { readonly type: 'approval'; readonly part: JsonObject };

/** The fields of the AI SDK in the metadata of a message or a call. */
export interface KeptFields {
  /** The provider that wrote it; absent if an application converted it, which counts for all of them. */
  readonly provider?: string | undefined;
  /** Of an answer. */
  readonly parts?: readonly KeptPart[] | undefined;
  /** Answers to the requests for approvals of an answer. */
  readonly responses?: readonly JsonObject[] | undefined;
  /** Further fields of each part of a content. */
  readonly fields?: readonly (JsonObject | null)[] | undefined;
  /** Kind of a result that the content does not show. */
  readonly output?: 'json' | 'error-json' | 'execution-denied' | undefined;
  readonly outputOptions?: unknown;
  /** Options of the call, or of the result. */
  readonly options?: unknown;
}

/** Text of a denied call for the model, if there is no reason. */
export const DENIED = 'The call was denied.';

/** Fields for a message, with options of providers: `metadata`, or nothing. */
export function toMetadata(
  providerOptions: unknown,
  kept: KeptFields = {},
): { readonly metadata?: Metadata } {
  const fields = Object.entries(kept).filter(([, value]) => value !== undefined);
  const metadata = {
    ...(providerOptions !== undefined && { providerOptions }),
    ...(fields.length > 0 && { [KEY]: Object.fromEntries(fields) }),
  };
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

/** The fields of metadata, of any provider. */
export function keptOf(metadata: Metadata | undefined): KeptFields {
  const fields = metadata?.[KEY];
  return isPlainObject(fields) ? fields : {};
}

/** A file of an answer as JSON, which stores need; undefined for a reference to a file of the provider. */
export function toKeptFile(
  type: 'file' | 'reasoning-file',
  { data, mediaType, filename }: JsonObject,
  options: unknown,
): (KeptPart & { readonly type: 'file' | 'reasoning-file' }) | undefined {
  const source = sourceOf(data);
  if (!source) return undefined;
  const content = 'data' in source ? { data: base64(source.data) } : source;
  const name = typeof filename === 'string' ? { name: filename } : {};
  const file = { mediaType, ...content, ...name };
  return { type, file, ...(options !== undefined && { options }) };
}

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
export function toCallMetadata(
  provider: string | undefined,
  options: unknown,
): Metadata | undefined {
  return options === undefined ? undefined : toMetadata(undefined, { provider, options }).metadata;
}

/** The content of an assistant message for a model: its own parts in order, if this provider wrote them. */
export function toAssistantParts(
  message: AssistantMessage,
  provider: string,
  toFile: (part: Media) => JsonObject,
): readonly unknown[] {
  const calls = callsOf(message).map((call) => toCallPart(call, provider));
  const { parts = [] } = keptFor(message.metadata, provider);
  const sent = parts.filter(({ type }) => type !== 'approval');
  return orderedParts(message, sent, calls, toFile);
}

/** The texts, files and calls of an assistant message in the order of the parts that were kept. */
export function orderedParts(
  message: AssistantMessage,
  parts: readonly KeptPart[],
  allCalls: readonly unknown[],
  toFile: (part: Media) => JsonObject,
): readonly unknown[] {
  const calls = [...allCalls];
  const rest = { text: textOf(message), reasoning: message.reasoning ?? '' };
  const isWhole = (type: keyof typeof rest): boolean =>
    rest[type].length === lengthOf(parts, type) && parts.some((part) => part.type === type);
  const whole = { text: isWhole('text'), reasoning: isWhole('reasoning') };
  const content = parts.flatMap((part): readonly unknown[] => {
    switch (part.type) {
      case 'call':
        return calls.splice(0, 1);
      case 'part':
      case 'approval':
        return [part.part];
      case 'file':
      case 'reasoning-file': {
        const file = toFile({ type: 'file', ...part.file });
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

/** The fields of metadata, unless another provider wrote them, whose signatures this one refuses. */
function keptFor(metadata: Metadata | undefined, provider: string): KeptFields {
  const kept = keptOf(metadata);
  return kept.provider === undefined || kept.provider === provider ? kept : {};
}

function toCallPart({ id, name, arguments: text, metadata }: ToolCall, provider: string): unknown {
  const part = { type: 'tool-call', toolCallId: id, toolName: name, input: toInput(text) };
  return withOptions(part, keptFor(metadata, provider).options);
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
