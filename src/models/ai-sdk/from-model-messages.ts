import type {
  AssistantMessage,
  ContentPart,
  Message,
  ToolCall,
  ToolMessage,
} from '../../core/chat/message.js';
import { describe } from '../../core/errors/describe.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { RAW_PARTS, RESULT_PARTS, toMedia, USER_PARTS } from './files.js';
import {
  DENIED,
  keptOf,
  toCallMetadata,
  toKeptFile,
  toMetadata,
  type KeptFields,
  type KeptPart,
} from './kept-parts.js';
import type { AiSdkMessage } from './model-message.js';

/**
 * Messages of the AI SDK, also from `convertToModelMessages`, as messages of this library. What is not in the fields of
 * ours (options of providers, the order of parts, kinds of outputs, approvals) is kept in `metadata`: {@link toModelMessages} gives
 * it back, and an {@link AiSdkChatModel} sends it.
 * @throws {@link InvalidArgumentError} for a message or a part of a form that this library does not know
 */
export function fromModelMessages(messages: readonly AiSdkMessage[]): readonly Message[] {
  if (!Array.isArray(messages)) throw invalid('messages', 'must be an array', messages);
  const converted: Message[] = [];
  for (const [at, message] of (messages as readonly unknown[]).entries()) {
    const where = `messages[${at}]`;
    if (!isPlainObject(message)) throw invalid(where, 'must be an object with a role', message);
    if (message['role'] === 'tool') addResults(converted, message, where);
    else converted.push(toMessage(message, where));
  }
  return converted;
}

function toMessage(message: JsonObject, where: string): Message {
  const { role, content, providerOptions } = message;
  if (
    role === 'system' ||
    ((role === 'user' || role === 'assistant') && typeof content === 'string')
  )
    return { role, content: textIn(message, 'content', where), ...toMetadata(providerOptions) };
  if (role === 'assistant') return toAssistant(partsOf(message, where), providerOptions, where);
  if (role !== 'user')
    throw invalid(`${where}.role`, 'must be system, user, assistant or tool', role);
  const { fields, ...user } = toContent(partsOf(message, where), USER_PARTS, `${where}.content`);
  return { role, ...user, ...toMetadata(providerOptions, { fields }) };
}

function partsOf({ content }: JsonObject, where: string): readonly JsonObject[] {
  if (!Array.isArray(content) || !content.every(isPlainObject))
    throw invalid(`${where}.content`, 'must be a text or an array of parts', content);
  return content;
}

function toContent(
  parts: readonly JsonObject[],
  known: readonly unknown[],
  where: string,
): { readonly content: readonly ContentPart[] } & Pick<KeptFields, 'fields'> {
  const fields: (JsonObject | null)[] = [];
  const content = parts.map((part, at): ContentPart => {
    const { type, providerOptions, filename } = part;
    const place = `${where}[${at}]`;
    if (!known.includes(type)) throw unknownPart(place, part);
    const converted = type === 'text' ? toText(part, place) : toMedia(part);
    if (!converted && !RAW_PARTS.includes(type)) throw unknownPart(place, part);
    if (!converted) {
      fields.push(null);
      return { type: 'raw', value: withoutUndefined(part) };
    }
    const isNamed = converted.type === 'file' || typeof filename !== 'string';
    const rest = { providerOptions, filename: isNamed ? undefined : filename };
    fields.push(
      Object.values(rest).some((value) => value !== undefined) ? withoutUndefined(rest) : null,
    );
    return converted;
  });
  return { content, fields: fields.some((each) => each !== null) ? fields : undefined };
}

function toText(part: JsonObject, where: string): ContentPart {
  return { type: 'text', text: textIn(part, 'text', where) };
}

function toAssistant(
  parts: readonly JsonObject[],
  providerOptions: unknown,
  where: string,
): AssistantMessage {
  const texts = { text: '', reasoning: '' };
  const toolCalls: ToolCall[] = [];
  const kept = parts.map((part, at): KeptPart => {
    const place = `${where}.content[${at}]`;
    const { type, providerOptions: options } = part;
    switch (type) {
      case 'text':
      case 'reasoning': {
        const text = textIn(part, 'text', place);
        texts[type] += text;
        return { type, length: text.length, ...(options !== undefined && { options }) };
      }
      case 'tool-call':
        if (part['providerExecuted'] === true) break;
        toolCalls.push(toCall(part, place));
        return { type: 'call' };
      case 'file':
      case 'reasoning-file': {
        const file = toKeptFile(type, part, options);
        if (file) return file;
        break;
      }
      case 'tool-approval-request':
        return { type: 'approval', part: withoutUndefined(part) };
      case 'tool-result':
      case 'custom':
        break;
      default:
        throw unknownPart(place, part);
    }
    return { type: 'part', part: withoutUndefined(part) };
  });
  const hasText =
    texts.text !== '' || (toolCalls.length === 0 && kept.some(({ type }) => type === 'text'));
  return {
    role: 'assistant',
    content: hasText ? texts.text : null,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(texts.reasoning !== '' && { reasoning: texts.reasoning }),
    ...toMetadata(providerOptions, { parts: isUsual(kept) ? undefined : kept }),
  };
}

const USUAL = /^(?:reasoning )?(?:text )?(?:call )*$/;

/** True if the fields of the message have everything, in the order in which they are sent. */
function isUsual(kept: readonly KeptPart[]): boolean {
  const hasOptions = kept.some((part) => 'options' in part);
  return !hasOptions && USUAL.test(kept.map(({ type }) => `${type} `).join(''));
}

function toCall(part: JsonObject, where: string): ToolCall {
  const { input, providerOptions } = part;
  const metadata = toCallMetadata(undefined, providerOptions);
  return {
    id: textIn(part, 'toolCallId', where),
    name: textIn(part, 'toolName', where),
    arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
    ...(metadata && { metadata }),
  };
}

/** Adds the results of a message, and its answers to approval requests to the message that asked. */
function addResults(converted: Message[], message: JsonObject, where: string): void {
  const responses: JsonObject[] = [];
  let { providerOptions } = message;
  for (const [at, part] of partsOf(message, where).entries()) {
    const place = `${where}.content[${at}]`;
    if (part['type'] === 'tool-approval-response') responses.push(withoutUndefined(part));
    else if (part['type'] !== 'tool-result') throw unknownPart(place, part);
    else {
      converted.push(toResult(part, providerOptions, place));
      providerOptions = undefined; // the first one begins the message
    }
  }
  if (responses.length === 0) return;
  const at = converted.findLastIndex(({ role }) => role === 'assistant');
  const asking = converted[at];
  if (!asking) throw invalid(where, 'must follow the message with the approval request', message);
  const kept = keptOf(asking.metadata);
  const all = [...(kept.responses ?? []), ...responses];
  const { metadata } = toMetadata(asking.metadata?.['providerOptions'], {
    ...kept,
    responses: all,
  });
  converted[at] = { ...asking, ...(metadata && { metadata }) };
}

function toResult(part: JsonObject, messageOptions: unknown, where: string): ToolMessage {
  const { output, providerOptions: options } = part;
  if (!isPlainObject(output)) throw invalid(`${where}.output`, 'must be an output', output);
  const { type, value, reason = DENIED, providerOptions: outputOptions } = output;
  const isError = type === 'error-text' || type === 'error-json' || type === 'execution-denied';
  const fields = (): Pick<ToolMessage, 'content'> & KeptFields => {
    switch (type) {
      case 'text':
      case 'error-text':
        return { content: textIn(output, 'value', `${where}.output`) };
      case 'json':
      case 'error-json':
        return { content: JSON.stringify(value ?? null), output: type };
      case 'execution-denied':
        return { content: String(reason), output: type };
      case 'content':
        return toContent(
          partsOf({ content: value }, `${where}.output`),
          RESULT_PARTS,
          `${where}.output.value`,
        );
      default:
        throw invalid(`${where}.output.type`, 'must be a kind of output', type);
    }
  };
  const { content, ...kept } = fields();
  return {
    role: 'tool',
    toolCallId: textIn(part, 'toolCallId', where),
    toolName: textIn(part, 'toolName', where),
    content,
    ...(isError && { isError }),
    ...toMetadata(messageOptions, { ...kept, options, outputOptions }),
  };
}

function textIn(fields: JsonObject, name: string, where: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw invalid(`${where}.${name}`, 'must be a text', value);
  return value;
}

function withoutUndefined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function unknownPart(where: string, { type }: JsonObject): InvalidArgumentError {
  return invalid(where, 'must be a part that this library knows', type);
}

function invalid(where: string, problem: string, value: unknown): InvalidArgumentError {
  return new InvalidArgumentError(`fromModelMessages: ${where} ${problem}, not ${describe(value)}`);
}
