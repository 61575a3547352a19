import type { ChatEvent } from '../../core/chat/chat-event.js';
import { ChatResponse, type RateLimit, type Usage } from '../../core/chat/chat-response.js';
import { StreamFold } from '../../core/chat/stream-fold.js';
import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import type { ResponseFold } from '../http/body-reader.js';
import { addOtherFields, argumentsText, objectOf, usageOf } from '../http/fields.js';
import { unexpectedBody } from '../http/http-error.js';

/** Fields of an event that are mapped. */
const MAPPED: ReadonlySet<string> = new Set(
  'model message done done_reason prompt_eval_count eval_count logprobs'.split(' '),
);

/** Folds an answer of Ollama: lines of a stream, or the one document of a call. */
export class OllamaFold implements ResponseFold {
  readonly expected = 'an answer of Ollama';
  readonly hasLines = true;
  private readonly fold = new StreamFold();
  private readonly metadata: Record<string, unknown> = {};
  private readonly logprobs: unknown[] = [];
  private calls = 0;
  private last: JsonObject | undefined;
  private model: string | undefined;

  constructor(private readonly emit: (event: ChatEvent) => void) {}

  get text(): string {
    return this.fold.text;
  }

  get finished(): boolean {
    return this.last !== undefined;
  }

  get ended(): boolean {
    return this.finished;
  }

  get usage(): Usage | undefined {
    const { prompt_eval_count: input, eval_count: output } = this.last ?? {};
    // the server leaves out a prompt that it has cached
    return usageOf({ input, output });
  }

  /** @throws {@link ModelCallError} if the event is not one of this API */
  addEvent(event: JsonObject): void {
    const { message, done, model } = event;
    if (!isPlainObject(message) && typeof done !== 'boolean')
      throw unexpectedBody(this.expected, 'no message');
    this.model ??= nonEmptyString(model);
    if (isPlainObject(message)) this.addMessage(message);
    if (Array.isArray(event['logprobs']))
      for (const each of event['logprobs']) this.logprobs.push(each);
    if (done !== true) return;
    this.last = event;
    addOtherFields(event, MAPPED, this.metadata);
  }

  addDocument(): void {
    throw unexpectedBody(this.expected, 'another document');
  }

  response(rateLimit: RateLimit | undefined): ChatResponse {
    const { fold, last = {}, logprobs, metadata, model, usage } = this;
    const finishReason = nonEmptyString(last['done_reason']);
    const generation = {
      message: fold.message(),
      ...(finishReason !== undefined && { finishReason }),
      ...(logprobs.length > 0 && { metadata: { logprobs: { content: logprobs } } }),
    };
    return new ChatResponse({ generations: [generation], usage, model, rateLimit, metadata });
  }

  private addMessage({ content, thinking, tool_calls: calls }: JsonObject): void {
    const [text, reasoning] = [nonEmptyString(content), nonEmptyString(thinking)];
    if (reasoning !== undefined) {
      this.fold.reasoning += reasoning;
      this.emit({ type: 'reasoning-delta', text: reasoning });
    }
    if (text !== undefined) {
      this.fold.text += text;
      this.emit({ type: 'text-delta', text });
    }
    if (Array.isArray(calls)) for (const call of calls) this.addCall(objectOf(call));
  }

  /** A call arrives as a whole; most models give no id. */
  private addCall({ id, function: called }: JsonObject): void {
    const { name, arguments: input } = objectOf(called);
    const delta = this.fold.addToolCall({
      index: this.calls++,
      id: nonEmptyString(id),
      name: nonEmptyString(name),
      arguments: argumentsText(input),
    });
    this.emit(delta);
  }
}
