import type { ChatEvent } from '../../core/chat/chat-event.js';
import { ChatResponse, type RateLimit, type Usage } from '../../core/chat/chat-response.js';
import { StreamFold } from '../../core/chat/stream-fold.js';
import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import type { ResponseFold } from '../http/body-reader.js';
import { addOtherFields, argumentsOf, objectOf, toMetadata, usageOf } from '../http/fields.js';
import { ReportedError, unexpectedBody } from '../http/http-error.js';

/** Key of the provider's fields in the metadata of a message. */
export const KEY = 'cohere';
/** Fields of a document, or of the last event, that are mapped. */
const MAPPED: ReadonlySet<string> = new Set('id message finish_reason error logprobs'.split(' '));

/** Folds an answer of Cohere: the events of a stream, or the one document of a call. */
export class CohereFold implements ResponseFold {
  readonly expected = 'a chat response';
  private readonly fold = new StreamFold();
  private readonly metadata: Record<string, unknown> = {};
  private readonly citations: unknown[] = [];
  private readonly logprobs: unknown[] = [];
  private plan = '';
  private thinking = '';
  private id: string | undefined;
  private finishReason: string | undefined;
  private reported: JsonObject = {};
  private isComplete = false;

  constructor(private readonly emit: (event: ChatEvent) => void) {}

  get text(): string {
    return this.fold.text;
  }

  get finished(): boolean {
    return this.isComplete;
  }

  get ended(): boolean {
    return this.isComplete;
  }

  get usage(): Usage | undefined {
    const { tokens, billed_units: billed, cached_tokens: cached } = this.reported;
    const counts = isPlainObject(tokens) ? tokens : objectOf(billed);
    return usageOf({
      input: counts['input_tokens'],
      output: counts['output_tokens'],
      cached,
      reasoning: counts['reasoning_tokens'],
    });
  }

  /** Events of other types carry nothing that these do not. */
  addEvent(event: JsonObject): void {
    const { type, id, index, delta } = event;
    const { message: delivered, ...last } = objectOf(delta);
    const message = objectOf(delivered);
    switch (type) {
      case 'message-start':
        this.id ??= nonEmptyString(id);
        break;
      case 'content-start':
      case 'content-delta':
        this.addContent(message['content']);
        break;
      case 'tool-plan-delta':
        this.addPlan(message['tool_plan']);
        break;
      case 'tool-call-start':
      case 'tool-call-delta':
        for (const call of [message['tool_calls']].flat()) this.addCall(call, index);
        break;
      case 'citation-start':
        for (const citation of [message['citations']].flat()) this.addCitation(citation);
        break;
      case 'message-end':
        this.end(last);
    }
    if (type !== 'message-end') this.addLogprobs(event['logprobs']);
  }

  addDocument(document: unknown): void {
    const body = objectOf(document);
    if (!isPlainObject(body['message'])) throw unexpectedBody(this.expected, 'no message');
    const { content, tool_plan: plan, tool_calls: calls, citations } = body['message'];
    this.id = nonEmptyString(body['id']);
    for (const part of typeof content === 'string' ? [{ text: content }] : listOf(content))
      this.addContent(part);
    this.addPlan(plan);
    for (const [at, call] of listOf(calls).entries()) this.addCall(call, at);
    for (const citation of listOf(citations)) this.addCitation(citation);
    this.end(body);
  }

  response(rateLimit: RateLimit | undefined): ChatResponse {
    const { fold, finishReason, usage, id, metadata, logprobs } = this;
    const generation = {
      message: { ...fold.message(), ...toMetadata(KEY, this.kept) },
      ...(finishReason !== undefined && { finishReason }),
      ...fold.cited,
      ...(logprobs.length > 0 && { metadata: { logprobs: { content: logprobs } } }),
    };
    return new ChatResponse({ generations: [generation], usage, id, rateLimit, metadata });
  }

  /** Fields for the next request that the message does not express. */
  private get kept(): JsonObject {
    const { fold, plan, thinking, citations } = this;
    return {
      ...(plan !== '' && { tool_plan: plan, ...(thinking !== '' && { thinking }) }),
      ...(citations.length > 0 && { citations, text: fold.text }),
    };
  }

  /** @throws ReportedError if the answer failed while it was generated */
  private end(fields: JsonObject): void {
    const { finish_reason: reason, usage, error } = fields;
    this.finishReason = nonEmptyString(reason);
    this.reported = objectOf(usage);
    if (error) throw new ReportedError(error);
    addOtherFields(fields, MAPPED, this.metadata);
    this.addLogprobs(fields['logprobs']);
    this.isComplete = true;
  }

  private addContent(content: unknown): void {
    const { text, thinking } = objectOf(content);
    const [added, reasoning] = [nonEmptyString(text), nonEmptyString(thinking)];
    if (reasoning !== undefined) {
      this.thinking += reasoning;
      this.addReasoning(reasoning);
    }
    if (added === undefined) return;
    this.fold.text += added;
    this.emit({ type: 'text-delta', text: added });
  }

  private addPlan(plan: unknown): void {
    const added = nonEmptyString(plan);
    if (added === undefined) return;
    this.plan += added;
    this.addReasoning(added);
  }

  private addReasoning(text: string): void {
    this.fold.reasoning += text;
    this.emit({ type: 'reasoning-delta', text });
  }

  private addCall(call: unknown, index: unknown): void {
    const { id, function: called } = objectOf(call);
    const { name, arguments: input } = objectOf(called);
    const delta = this.fold.addToolCall({
      index: typeof index === 'number' ? index : undefined,
      id: nonEmptyString(id),
      name: nonEmptyString(name),
      arguments: nonEmptyString(argumentsOf(input)),
    });
    this.emit(delta);
  }

  /** Adds a citation of each source; citations of a plan have no place in the text. */
  private addCitation(citation: unknown): void {
    if (!isPlainObject(citation)) return;
    this.citations.push(citation);
    const { type, start, end, sources } = citation;
    const place = type === 'PLAN' || type === 'THINKING_CONTENT' ? {} : { start, end };
    for (const source of listOf(sources).filter(isPlainObject)) {
      const fields = [source['document'], source['tool_output'], source].find(isPlainObject);
      this.emit(this.fold.addCitation(source, place, fields));
    }
  }

  private addLogprobs(logprobs: unknown): void {
    for (const each of [logprobs ?? []].flat()) this.logprobs.push(each);
  }
}
