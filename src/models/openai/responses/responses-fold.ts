import { callsOf } from '../../../core/chat/message.js';
import type { ChatEvent } from '../../../core/chat/chat-event.js';
import { ChatResponse, type RateLimit, type Usage } from '../../../core/chat/chat-response.js';
import { StreamFold } from '../../../core/chat/stream-fold.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../../../core/internal/options.js';
import { listOf } from '../../../core/json-schema/json-pointer.js';
import type { ResponseFold } from '../../http/body-reader.js';
import { addOtherFields, argumentsOf, objectOf } from '../../http/fields.js';
import { incompleteBody, ReportedError, unexpectedBody } from '../../http/http-error.js';
import { addAnnotations } from '../annotation.js';
import { toUsage } from '../response.js';
import { keepItems } from './kept-items.js';
import { OpenItems } from './open-items.js';
import { partsOf, readMessage, textsOf, type OutputItem, type PieceKind } from './output-item.js';

/** The place of a piece in an item, and in its event. */
interface Piece {
  readonly type: string;
  readonly kind: PieceKind;
  /** The field with the text. */
  readonly field: string;
  /** True if the event repeats a part as a whole. */
  readonly isWhole: boolean;
}

const toPieces = (
  name: string,
  type: string,
  kind: PieceKind,
  field: string,
): [name: string, Piece][] => [
  [`${name}.delta`, { type, kind, field: 'delta', isWhole: false }],
  [`${name}.done`, { type, kind, field, isWhole: true }],
];

const PIECES: ReadonlyMap<string, Piece> = new Map([
  ...toPieces('response.output_text', 'message', 'text', 'text'),
  ...toPieces('response.refusal', 'message', 'refusal', 'refusal'),
  ...toPieces('response.reasoning_summary_text', 'reasoning', 'summary', 'text'),
  ...toPieces('response.reasoning_text', 'reasoning', 'content', 'text'),
  ...toPieces('response.reasoning', 'reasoning', 'content', 'text'),
  ...toPieces('response.function_call_arguments', 'function_call', 'arguments', 'arguments'),
]);

/** Statuses of the events that end a stream. */
const LAST: Readonly<Record<string, string>> = {
  'response.completed': 'completed',
  'response.done': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
  'response.cancelled': 'cancelled',
};

/** Fields of a response that are mapped, or that repeat the request. */
const BODY_FIELDS: ReadonlySet<string> = new Set(
  (
    'id object created_at model output output_text usage error status instructions tools tool_choice text reasoning ' +
    'temperature top_p top_logprobs frequency_penalty presence_penalty max_output_tokens max_tool_calls ' +
    'parallel_tool_calls truncation background prompt user metadata'
  ).split(' '),
);

/** Folds a response, streamed or whole, and emits its deltas. */
export class ResponsesFold implements ResponseFold {
  readonly expected = 'a response of the Responses API';
  finished = false;
  usage: Usage | undefined;
  private readonly answer = new StreamFold();
  private readonly items = new OpenItems();
  /** The part of reasoning that arrived last. */
  private reasoningPart: string | undefined;
  private id: string | undefined;
  private model: string | undefined;
  private finishReason: string | undefined;
  private readonly metadata: Record<string, unknown> = {};

  /** @param isStored true unless the request asks the server not to store the response */
  constructor(
    private readonly emit: (event: ChatEvent) => void,
    private isStored: boolean,
  ) {}

  get text(): string {
    return this.answer.text;
  }

  get ended(): boolean {
    return this.finished;
  }

  addEvent(event: JsonObject): void {
    const type = String(event['type']);
    const piece = PIECES.get(type);
    if (piece) {
      this.addPiece(event, piece);
      return;
    }
    const { item, response } = event;
    if (isPlainObject(response)) this.addFields(response);
    const status = Object.hasOwn(LAST, type) ? LAST[type] : undefined;
    if (status) this.end(objectOf(response), status);
    else if (!isPlainObject(item)) return;
    else if (type === 'response.output_item.added') this.begin(this.items.added(event, item));
    else if (type === 'response.output_item.done') this.close(this.items.done(event, item), item);
  }

  addDocument(document: unknown): void {
    const body = objectOf(document);
    const { output, status } = body;
    this.addFields(body);
    if (status === 'queued' || status === 'in_progress' || !Array.isArray(output))
      throw unexpectedBody(this.expected, nonEmptyString(status) ?? 'no output', this);
    this.end(body, nonEmptyString(status));
  }

  response(rateLimit?: RateLimit): ChatResponse {
    if (!this.finished) throw incompleteBody({ usage: this.usage });
    const { id, model, usage, metadata, finishReason } = this;
    const message = this.answer.message();
    const items = this.items.all.map((item) => item.assembled());
    const parts = items.filter(({ type }) => type === 'message').map(readMessage);
    const logprobs = parts.flatMap((part) => part.logprobs);
    const generation = {
      message: { ...message, ...keepItems(items, callsOf(message), this.isStored) },
      ...(finishReason !== undefined && { finishReason }),
      ...this.answer.cited,
      metadata: {
        ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
      },
    };
    return new ChatResponse({ generations: [generation], usage, id, model, rateLimit, metadata });
  }

  private addPiece(event: JsonObject, { type, kind, field, isWhole }: Piece): void {
    const item = this.items.find(event, type, isWhole);
    if (!item) return;
    const part = event['content_index'] ?? event['summary_index'] ?? 0;
    const text = argumentsOf(event[field]);
    this.add(item, kind, part, isWhole ? item.restOfPart(kind, part, text) : text);
  }

  private add(item: OutputItem, kind: PieceKind, part: unknown, text: string): void {
    if (text === '') return;
    item.add(kind, part, text);
    switch (kind) {
      case 'text':
        this.answer.text += text;
        return this.emit({ type: 'text-delta', text });
      case 'refusal':
        this.answer.refusal += text;
        return;
      case 'arguments':
        return this.emit(this.answer.addToolCall({ index: item.number, arguments: text }));
      default:
        return this.addReasoning(`${item.number} ${kind} ${String(part)}`, text);
    }
  }

  /** Parts of reasoning are paragraphs. */
  private addReasoning(part: string, text: string): void {
    const isNext = this.reasoningPart !== undefined && this.reasoningPart !== part;
    this.reasoningPart = part;
    const added = isNext ? `\n\n${text}` : text;
    this.answer.reasoning += added;
    this.emit({ type: 'reasoning-delta', text: added });
  }

  /** Announces a call; its arguments follow in pieces, or with the complete item. */
  private begin(open: OutputItem): void {
    const { number, item, type } = open;
    if (type !== 'function_call' || open.isAnnounced) return;
    const id = nonEmptyString(item['call_id']) ?? nonEmptyString(item['id']);
    const name = nonEmptyString(item['name']);
    open.isAnnounced = name !== undefined;
    this.emit(this.answer.addToolCall({ index: number, id, name, arguments: '' }));
  }

  /** Adds what the pieces of an item lacked. */
  private close(open: OutputItem | undefined, item: JsonObject): void {
    if (!open) return;
    this.begin(open);
    for (const [kind, parts] of Object.entries(textsOf(item)) as [PieceKind, readonly string[]][])
      open.restOfItem(kind, parts).forEach((text, part) => this.add(open, kind, part, text));
    this.addCitations(item);
  }

  /** Adds the citations of a complete item, whose text is the last of the answer. */
  private addCitations(item: JsonObject): void {
    if (item['type'] !== 'message') return;
    const parts = partsOf(item['content']);
    const texts = parts.map(({ text }) => nonEmptyString(text) ?? '');
    let start = this.answer.text.length - texts.join('').length;
    for (const [at, { annotations }] of parts.entries()) {
      addAnnotations(this.answer, annotations, this.emit, start);
      start += texts[at]?.length ?? 0;
    }
  }

  private addFields({ id, model, usage, store }: JsonObject): void {
    this.id ??= nonEmptyString(id);
    this.model ??= nonEmptyString(model);
    if (typeof store === 'boolean') this.isStored = store;
    if (usage) this.usage = toUsage(usage) ?? this.usage;
  }

  /** @param status of the event, or of the document */
  private end(response: JsonObject, status: string | undefined): void {
    const { error, output, incomplete_details: details } = response;
    if (status === 'failed' || status === 'cancelled')
      throw new ReportedError(error ?? { message: `the response was ${status}` });
    for (const [at, item] of listOf(output).filter(isPlainObject).entries())
      this.close(this.items.last(item, at), item);
    const calls = this.items.all.some(({ type }) => type === 'function_call');
    const reason = nonEmptyString(objectOf(details)['reason']);
    this.finishReason =
      status === 'incomplete' ? (reason ?? status) : calls ? 'tool_calls' : status;
    addOtherFields(response, BODY_FIELDS, this.metadata);
    this.finished = true;
  }
}
