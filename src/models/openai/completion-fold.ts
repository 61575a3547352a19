import type { ChatEvent } from '../../core/chat/chat-event.js';
import {
  ChatResponse,
  type Generation,
  type RateLimit,
  type Usage,
} from '../../core/chat/chat-response.js';
import { StreamFold } from '../../core/chat/stream-fold.js';
import { IncompleteResponseError, ModelCallError } from '../../core/errors/errors.js';
import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import type { ResponseFold } from '../http/body-reader.js';
import { addOtherFields, argumentsOf, toMetadata } from '../http/fields.js';
import { ReportedError, unexpectedBody } from '../http/http-error.js';
import { addAnnotations } from './annotation.js';
import { addContent, collectEchoed, KEY } from './echoed-fields.js';
import {
  BODY_FIELDS,
  CHOICE_FIELDS,
  MESSAGE_FIELDS,
  readContent,
  reasoningOf,
  toUsage,
  usageElsewhere,
} from './response.js';

/** One alternative of a completion. */
class Choice {
  readonly fold = new StreamFold();
  readonly fields: Record<string, unknown> = {};
  ended = false;
  hasCalls = false;
  private hasMessage = false;
  private finishReason: string | undefined;
  private readonly logprobs: unknown[] = [];
  private readonly echo: Record<string, unknown> = {};
  /** Content in parts, thinking among them, in the form that the provider wants back. */
  private parts: readonly unknown[] = [];

  /** @param emit receives the deltas */
  constructor(private readonly emit: (event: ChatEvent) => void) {}

  /** @returns whether the choice ends here */
  add(fields: JsonObject, isWhole: boolean): boolean {
    const delta = fields['delta'] ?? fields['message'];
    if (isPlainObject(delta)) {
      this.hasMessage = true;
      this.addDelta(delta, isWhole);
      if (isWhole) addOtherFields(delta, MESSAGE_FIELDS, this.fields);
    }
    const { logprobs } = fields;
    if (isPlainObject(logprobs) && Array.isArray(logprobs['content']))
      pushAll(this.logprobs, logprobs['content']);
    // before there is a reason, servers send null, an empty string or the word null
    const reason = nonEmptyString(fields['finish_reason']);
    const isLast = reason !== undefined && reason !== 'null';
    if (!isLast && !isWhole) return false;
    if (fields['error']) throw new ReportedError(fields['error']);
    if (isLast) this.finishReason = reason;
    // Together ends each call with a reason: after one beside a call, only the end marker counts
    const hasCall = isPlainObject(delta) && listOf(delta['tool_calls']).length > 0;
    this.ended = isWhole || !hasCall;
    addOtherFields(fields, CHOICE_FIELDS, this.fields);
    return true;
  }

  /** Adds the sources that Perplexity and xAI list beside the choices. */
  addSources({ search_results: results, citations }: JsonObject): void {
    if (this.fold.citations.length === 0)
      addAnnotations(this.fold, results ?? citations, this.emit);
  }

  /** @throws {@link IncompleteResponseError} if no message arrived */
  generation(usage: Usage | undefined): Generation {
    if (!this.hasMessage)
      throw new IncompleteResponseError(
        `The server answered without a message (finish reason: ${this.finishReason ?? 'none'}).`,
        { retryable: true, usage },
      );
    const { fold, echo, parts, logprobs, finishReason } = this;
    // without thinking the text is enough
    const isThinking = parts.some((part) => isPlainObject(part) && part['type'] === 'thinking');
    const message = fold.message(
      toMetadata(KEY, isThinking ? { ...echo, content: parts } : echo).metadata,
    );
    return {
      message,
      ...(finishReason !== undefined && { finishReason }),
      ...fold.cited,
      metadata: {
        ...this.fields,
        ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
      },
    };
  }

  private addDelta(delta: JsonObject, isWhole: boolean): void {
    const { content, refusal, tool_calls: calls, annotations } = delta;
    const isText = typeof content === 'string';
    const read = isText || !content ? undefined : readContent(content);
    this.addReasoning(reasoningOf(delta) || read?.reasoning);
    this.parts = addContent(this.parts, content, this.fold.text);
    this.addText(isText ? content : read?.text);
    if (typeof refusal === 'string') this.fold.refusal += refusal;
    if (Array.isArray(calls))
      for (let at = 0; at < calls.length; at++) this.addCall(calls[at], isWhole ? at : undefined);
    addAnnotations(this.fold, annotations, this.emit);
    collectEchoed(this.echo, delta);
  }

  private addText(text: string | undefined): void {
    if (!text) return;
    this.fold.text += text;
    this.emit({ type: 'text-delta', text });
  }

  private addReasoning(text: string | undefined): void {
    if (!text) return;
    this.fold.reasoning += text;
    this.emit({ type: 'reasoning-delta', text });
  }

  /** @param at position in a document, where no call continues another; undefined in a stream */
  private addCall(call: unknown, at: number | undefined): void {
    if (!isPlainObject(call)) return;
    const { index, id, type, function: called } = call;
    // the provider runs tools of other types itself
    if (!isPlainObject(called) || (type && type !== 'function')) return;
    const delta = this.fold.addToolCall({
      index: at ?? (typeof index === 'number' ? index : undefined),
      id: nonEmptyString(id),
      name: nonEmptyString(called['name']),
      arguments: argumentsOf(called['arguments']),
      ...toMetadata(KEY, collectEchoed({}, call)),
    });
    this.hasCalls = true;
    this.ended = false; // some servers send a finish reason after every call
    this.emit(delta);
  }
}

/** Folds a chat completion, streamed or whole, and emits the deltas of its first choice. */
export class CompletionFold implements ResponseFold {
  readonly expected = 'a chat completion';
  private readonly choices = new Map<number, Choice>();
  private id: string | undefined;
  private model: string | undefined;
  private reported: Usage | undefined;
  private readonly metadata: Record<string, unknown> = {};
  private isFirstEvent = true;

  constructor(private readonly emit: (event: ChatEvent) => void) {}

  get text(): string {
    return this.choices.get(0)?.fold.text ?? '';
  }

  get finished(): boolean {
    for (const choice of this.choices.values()) if (!choice.ended) return false;
    return this.choices.size > 0;
  }

  get mayContinue(): boolean {
    for (const choice of this.choices.values()) if (choice.hasCalls) return true;
    return false;
  }

  get usage(): Usage | undefined {
    return this.reported ?? usageElsewhere(this.metadata, this.choices.get(0)?.fields);
  }

  addEvent(chunk: JsonObject): void {
    const { choices } = chunk;
    this.add(chunk, Array.isArray(choices) ? choices : [], false);
  }

  addDocument(document: unknown): void {
    const body = isPlainObject(document) ? document : {};
    const choices = listOf(body['choices']).filter(isPlainObject);
    if (choices.length === 0)
      throw unexpectedBody(this.expected, 'no choices', { usage: toUsage(body['usage']) });
    this.add(body, choices.map(toNumbered), true);
  }

  response(rateLimit?: RateLimit): ChatResponse {
    const { id, model, metadata } = this;
    this.choices.get(0)?.addSources(metadata);
    const choices = [...this.choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    if (choices.length === 0)
      throw new ModelCallError('The server ended its stream without a response.', {
        usage: this.usage,
      });
    return new ChatResponse({
      generations: choices.map((choice) => choice.generation(this.usage)),
      usage: this.usage,
      id,
      model,
      rateLimit,
      metadata,
    });
  }

  private add(body: JsonObject, choices: readonly unknown[], isWhole: boolean): void {
    const { id, model, usage } = body;
    this.id ??= nonEmptyString(id);
    this.model ??= nonEmptyString(model);
    // usage may come in several chunks, each time as the whole
    if (usage) this.reported = toUsage(usage) ?? this.reported;
    // other fields come in first and last chunks and in chunks without choices, not in every delta
    let hasOthers = this.isFirstEvent || Boolean(usage) || choices.length === 0;
    this.isFirstEvent = false;
    // without `entries()`, which would be an array for each delta
    for (let at = 0; at < choices.length; at++) {
      const choice = choices[at];
      if (isPlainObject(choice) && this.choiceOf(choice, at).add(choice, isWhole)) hasOthers = true;
    }
    if (hasOthers) addOtherFields(body, BODY_FIELDS, this.metadata);
  }

  /** @param at position in the chunk, for servers that do not number choices */
  private choiceOf({ index }: JsonObject, at: number): Choice {
    const number = typeof index === 'number' ? index : at;
    const known = this.choices.get(number);
    if (known) return known;
    const choice = new Choice(number === 0 ? this.emit : () => undefined);
    this.choices.set(number, choice);
    return choice;
  }
}

/** Adds values one by one: as arguments, 100,000 of them exceed the stack. */
function pushAll(list: unknown[], values: readonly unknown[]): void {
  for (const value of values) list.push(value);
}

/** A choice of a document with its position as its number. */
function toNumbered(choice: JsonObject, index: number): JsonObject {
  return { ...choice, index, delta: choice['message'] ?? choice['delta'] };
}
