import type { ChatEvent } from '../../chat/chat-event.js';
import {
  ChatResponse,
  type Generation,
  type RateLimit,
  type Usage,
} from '../../chat/chat-response.js';
import type { Prompt } from '../../chat/prompt.js';
import { StreamFold, withUniqueCallIds } from '../../chat/stream-fold.js';
import { ModelCallError } from '../../errors.js';
import { isPlainObject } from '../../internal/options.js';
import type { ResponseFold } from '../http/body-reader.js';
import { ReportedError } from '../http/http-error.js';
import { nonEmptyString, type JsonObject } from '../http/json-object.js';
import { collectEchoed, ContentParts, echoedFields, toMetadata } from './echoed-fields.js';
import {
  addOtherFields,
  argumentsOf,
  BODY_FIELDS,
  CHOICE_FIELDS,
  finishReasonOf,
  isFunctionCall,
  logprobsOf,
  MESSAGE_FIELDS,
  readContent,
  reasoningOf,
  toUsage,
  unexpectedBody,
  usageElsewhere,
} from './response.js';

/** One alternative of a completion. */
class Choice {
  readonly fold = new StreamFold();
  readonly fields: Record<string, unknown> = {};
  ended = false;
  private finishReason: string | undefined;
  private readonly logprobs: unknown[] = [];
  private readonly annotations: unknown[] = [];
  private echo: Record<string, unknown> = {};
  /** Content in parts, thinking among them, in the form that the provider wants back. */
  private readonly parts = new ContentParts();
  /** Content of a whole message, in place of `parts`. */
  private content: unknown;

  /** @param emit receives the deltas */
  constructor(private readonly emit: (event: ChatEvent) => void) {}

  /** @returns whether the choice ends here */
  addChunk(fields: JsonObject): boolean {
    const delta = fields['delta'] ?? fields['message'];
    if (isPlainObject(delta)) this.addDelta(delta);
    if (fields['logprobs']) this.logprobs.push(...logprobsOf(fields['logprobs']));
    const reason = finishReasonOf(fields['finish_reason']);
    if (reason === undefined) return false;
    if (fields['error']) throw new ReportedError(fields['error']);
    this.end(reason, fields);
    return true;
  }

  addWhole(fields: JsonObject): void {
    this.logprobs.push(...logprobsOf(fields['logprobs']));
    this.end(finishReasonOf(fields['finish_reason']), fields);
    const message = fields['message'] ?? fields['delta'];
    if (!isPlainObject(message)) return;
    this.addDelta(withCallIndexes(message));
    // in a message that is not split, these fields are not joined
    this.echo = echoedFields(message);
    this.content = this.parts.withThinking && message['content'];
    addOtherFields(message, MESSAGE_FIELDS, this.fields);
  }

  generation({ messages }: Prompt): Generation {
    const { fold, echo, logprobs, annotations, finishReason } = this;
    const content = this.content ?? this.parts.withThinking;
    const message = fold.message(toMetadata(content ? { ...echo, content } : echo).metadata);
    return {
      message: withUniqueCallIds(message, messages),
      ...(finishReason !== undefined && { finishReason }),
      metadata: {
        ...this.fields,
        ...(annotations.length > 0 && { annotations }),
        ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
      },
    };
  }

  private end(reason: string | undefined, fields: JsonObject): void {
    this.finishReason = reason;
    this.ended = true;
    addOtherFields(fields, CHOICE_FIELDS, this.fields);
  }

  private addDelta(delta: JsonObject): void {
    const { content, refusal, tool_calls: calls, annotations } = delta;
    const isText = typeof content === 'string';
    const parts = content && !isText ? readContent(content) : undefined;
    this.addReasoning(reasoningOf(delta) || parts?.reasoning);
    if (isText) this.parts.addText(content);
    else if (parts) this.parts.add(content, this.fold.text);
    this.addText(isText ? content : parts?.text);
    if (typeof refusal === 'string') this.fold.refusal += refusal;
    if (Array.isArray(calls)) for (const call of calls) this.addCall(call);
    if (Array.isArray(annotations)) this.annotations.push(...(annotations as readonly unknown[]));
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

  private addCall(call: unknown): void {
    if (!isFunctionCall(call)) return;
    const { index, id, function: called } = call;
    const delta = this.fold.addToolCall({
      index: typeof index === 'number' ? index : undefined,
      id: nonEmptyString(id),
      name: nonEmptyString(called['name']),
      arguments: argumentsOf(called['arguments']),
      ...toMetadata(echoedFields(call)),
    });
    this.ended = false; // some servers send a finish reason after every call
    this.emit(delta);
  }
}

/** Folds a chat completion, streamed or whole, and emits the deltas of its first choice. */
export class CompletionFold implements ResponseFold {
  private readonly choices = new Map<number, Choice>();
  private id: string | undefined;
  private model: string | undefined;
  private usage: Usage | undefined;
  private readonly metadata: Record<string, unknown> = {};
  private isFirstEvent = true;

  constructor(
    private readonly prompt: Prompt,
    private readonly emit: (event: ChatEvent) => void,
  ) {}

  get text(): string {
    return this.choices.get(0)?.fold.text ?? '';
  }

  get finished(): boolean {
    for (const choice of this.choices.values()) if (!choice.ended) return false;
    return this.choices.size > 0;
  }

  isEndMarker(data: string): boolean {
    return data.startsWith('[DONE]');
  }

  addEvent(chunk: JsonObject): void {
    const { choices } = chunk;
    const hasChoices = Array.isArray(choices) && choices.length > 0;
    // other fields come in first and last chunks and in chunks without choices, not in every delta
    let hasOthers = this.isFirstEvent || Boolean(chunk['usage']) || !hasChoices;
    this.isFirstEvent = false;
    this.addBody(chunk);
    if (hasChoices)
      for (const choice of choices as readonly unknown[])
        if (isPlainObject(choice) && this.choiceOf(choice).addChunk(choice)) hasOthers = true;
    if (hasOthers) addOtherFields(chunk, BODY_FIELDS, this.metadata);
  }

  addDocument(document: unknown): void {
    const choices = isPlainObject(document) ? document['choices'] : undefined;
    const list = Array.isArray(choices) ? choices.filter(isPlainObject) : [];
    if (!isPlainObject(document) || list.length === 0) throw this.unexpectedBody('no choices');
    if (list[0]?.['error']) throw new ReportedError(list[0]['error']);
    this.addBody(document);
    for (const [index, fields] of list.entries()) this.openChoice(index).addWhole(fields);
    addOtherFields(document, BODY_FIELDS, this.metadata);
  }

  response(rateLimit?: RateLimit): ChatResponse {
    const { id, model, metadata, prompt } = this;
    const choices = [...this.choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    if (choices.length === 0)
      throw new ModelCallError('The server ended its stream without a response.');
    return new ChatResponse({
      generations: choices.map((choice) => choice.generation(prompt)),
      usage: this.usage ?? usageElsewhere(metadata, choices[0]?.fields),
      id,
      model,
      rateLimit,
      metadata,
    });
  }

  unexpectedBody(found: string): ModelCallError {
    return unexpectedBody('a chat completion', found);
  }

  private addBody({ id, model, usage }: JsonObject): void {
    this.id ??= nonEmptyString(id);
    this.model ??= nonEmptyString(model);
    // usage may come in several chunks, each time as the whole
    if (usage) this.usage = toUsage(usage) ?? this.usage;
  }

  private choiceOf({ index }: JsonObject): Choice {
    const number = typeof index === 'number' ? index : 0;
    return this.choices.get(number) ?? this.openChoice(number);
  }

  private openChoice(index: number): Choice {
    const choice = new Choice(index === 0 ? this.emit : () => undefined);
    this.choices.set(index, choice);
    return choice;
  }
}

/** A whole message whose calls are numbered, so that none continues another. */
function withCallIndexes(message: JsonObject): JsonObject {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  const numbered = calls.map((call: unknown, index) =>
    isPlainObject(call) ? { ...call, index } : call,
  );
  return { ...message, tool_calls: numbered };
}
