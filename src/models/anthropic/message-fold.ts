import type { ChatEvent } from '../../core/chat/chat-event.js';
import {
  ChatResponse,
  type Generation,
  type RateLimit,
  type Usage,
} from '../../core/chat/chat-response.js';
import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import type { ResponseFold } from '../http/body-reader.js';
import { addOtherFields, objectOf, sumOf, usageOf } from '../http/fields.js';
import { incompleteBody, unexpectedBody } from '../http/http-error.js';
import { ContentFold } from './content-fold.js';

/** Fields of a message that are mapped. */
const MESSAGE_FIELDS = new Set(
  'id type role model content usage stop_reason stop_sequence stop_details'.split(' '),
);
/** Fields of a `message_delta` event that are mapped. */
const DELTA_FIELDS = new Set(['type', 'delta', 'usage']);
/** Counts of a usage that are mapped. */
const USAGE_FIELDS = new Set(
  'input_tokens output_tokens output_tokens_details cache_read_input_tokens cache_creation_input_tokens'.split(
    ' ',
  ),
);

/** Folds a message, streamed or whole, and emits its deltas. */
export class MessageFold implements ResponseFold {
  readonly expected = 'a message';
  ended = false;
  private readonly content: ContentFold;
  private id: string | undefined;
  private model: string | undefined;
  private stopReason: string | undefined;
  private hasMessage = false;
  private readonly counts: Record<string, unknown> = {};
  private readonly generationFields: Record<string, unknown> = {};
  private readonly otherFields: Record<string, unknown> = {};

  constructor(emit: (event: ChatEvent) => void) {
    this.content = new ContentFold(emit);
  }

  get text(): string {
    return this.content.fold.text;
  }

  get finished(): boolean {
    return this.stopReason !== undefined;
  }

  get usage(): Usage | undefined {
    return toUsage(this.counts);
  }

  addEvent(event: JsonObject): void {
    const { type, index } = event;
    if (type === 'content_block_delta') this.content.addDelta(index, objectOf(event['delta']));
    else if (type === 'content_block_start')
      this.content.start(index, objectOf(event['content_block']));
    else if (type === 'content_block_stop') this.content.stop(index);
    else if (type === 'message_start') this.addMessage(objectOf(event['message']));
    else if (type === 'message_delta') this.addMessageDelta(event);
    else if (type === 'message_stop') this.ended = true;
  }

  addDocument(document: unknown): void {
    const message = objectOf(document);
    if (!Array.isArray(message['content']) && typeof message['content'] !== 'string')
      throw unexpectedBody(this.expected, 'no content', { usage: toUsage(message['usage']) });
    this.addMessage(message);
    this.ended = true;
  }

  /** @throws {@link IncompleteResponseError} if the message has no end */
  response(rateLimit?: RateLimit): ChatResponse {
    const { id, model, usage, counts } = this;
    // a stream that ends by `[DONE]` alone is one of a proxy that lost the end
    const isWhole = this.finished || (this.ended && this.hasMessage);
    if (!isWhole) throw incompleteBody({ usage, partialText: this.text || undefined });
    const others: Record<string, unknown> = {};
    addOtherFields(counts, USAGE_FIELDS, others);
    const metadata = {
      ...this.otherFields,
      ...(Object.keys(others).length > 0 && { usage: others }),
    };
    return new ChatResponse({
      generations: [this.generation()],
      usage,
      id,
      model,
      rateLimit,
      metadata,
    });
  }

  private generation(): Generation {
    const { content, stopReason, generationFields } = this;
    const { explanation } = objectOf(generationFields['stop_details']);
    if (stopReason === 'refusal') content.fold.refusal = nonEmptyString(explanation) ?? '';
    const message = content.message(); // ends the blocks
    return {
      message,
      ...(stopReason !== undefined && { finishReason: stopReason }),
      ...content.fold.cited,
      metadata: generationFields,
    };
  }

  private addMessage(message: JsonObject): void {
    const { id, model, usage, content } = message;
    this.hasMessage = true;
    this.id ??= nonEmptyString(id);
    this.model ??= nonEmptyString(model);
    this.addUsage(usage);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    for (const [at, block] of listOf(blocks).entries()) {
      if (!isPlainObject(block)) continue;
      this.content.start(at, block);
      this.content.stop(at);
    }
    this.addStop(message);
    addOtherFields(message, MESSAGE_FIELDS, this.otherFields);
  }

  private addMessageDelta(event: JsonObject): void {
    const delta = objectOf(event['delta']);
    this.addUsage(event['usage']);
    this.addStop(delta);
    addOtherFields(delta, MESSAGE_FIELDS, this.otherFields);
    addOtherFields(event, DELTA_FIELDS, this.otherFields);
  }

  private addStop(fields: JsonObject): void {
    this.stopReason = nonEmptyString(fields['stop_reason']) ?? this.stopReason;
    for (const name of ['stop_sequence', 'stop_details'])
      if (fields[name]) this.generationFields[name] = fields[name];
  }

  /** Counts of later events replace earlier ones: each is a sum. */
  private addUsage(usage: unknown): void {
    if (isPlainObject(usage)) addOtherFields(usage, new Set(), this.counts);
  }
}

/** Usage, undefined if none was reported. Input that was cached is a part of the input. */
function toUsage(usage: unknown): Usage | undefined {
  const counts = objectOf(usage);
  const read = counts['cache_read_input_tokens'];
  const written = counts['cache_creation_input_tokens'];
  return usageOf({
    input: sumOf(counts['input_tokens'], read, written),
    output: counts['output_tokens'],
    cached: read,
    written,
    reasoning: objectOf(counts['output_tokens_details'])['thinking_tokens'],
  });
}
