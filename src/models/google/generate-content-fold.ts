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
import { objectOf } from '../http/fields.js';
import { incompleteBody, throwReportedError, unexpectedBody } from '../http/http-error.js';
import { Candidate, withoutContent } from './candidate.js';
import { addMetadata, camelCased, toUsage } from './response.js';

/** Fields of a response, or of an event of one, that are mapped. */
const FIELDS: ReadonlySet<string> = new Set(['candidates', 'responseId', 'modelVersion']);

/**
 * Folds an answer, streamed or whole, and emits the deltas of its first candidate. An event of a
 * stream and a whole answer have the same form.
 */
export class GenerateContentFold implements ResponseFold {
  readonly expected = 'an answer of generateContent';
  private readonly candidates = new Map<number, Candidate>();
  private id: string | undefined;
  private model: string | undefined;
  private readonly metadata: Record<string, unknown> = {};

  constructor(private readonly emit: (event: ChatEvent) => void) {}

  get text(): string {
    return this.candidates.get(0)?.fold.text ?? '';
  }

  get usage(): Usage | undefined {
    return toUsage(objectOf(this.metadata['usageMetadata']));
  }

  get finished(): boolean {
    if (this.candidates.size === 0) return this.isBlocked;
    for (const candidate of this.candidates.values()) if (!candidate.ended) return false;
    return true;
  }

  addEvent(event: JsonObject): void {
    const body = camelCased(event);
    this.id ??= nonEmptyString(body['responseId']);
    this.model ??= nonEmptyString(body['modelVersion']);
    const candidates = listOf(body['candidates']);
    for (let at = 0; at < candidates.length; at++) {
      const candidate = candidates[at];
      if (isPlainObject(candidate)) this.addCandidate(camelCased(candidate), at);
    }
    for (const name in body) {
      const value = body[name];
      if (!FIELDS.has(name))
        addMetadata(this.metadata, name, isPlainObject(value) ? camelCased(value) : value);
    }
  }

  /** A server that streams without `alt=sse` sends the events as a list. */
  addDocument(document: unknown): void {
    const isList = Array.isArray(document);
    for (const event of isList ? document : [document]) {
      throwReportedError(event);
      if (isPlainObject(event)) this.addEvent(event);
    }
    const { usage } = this;
    if (this.candidates.size === 0 && !this.isBlocked)
      throw usage ? withoutContent(usage) : unexpectedBody(this.expected, 'no candidates');
    if (isList && !this.finished)
      throw incompleteBody({ partialText: this.text || undefined, usage });
  }

  response(rateLimit?: RateLimit): ChatResponse {
    const { usage, id, model, metadata } = this;
    return new ChatResponse({
      generations: this.generations(),
      usage,
      id,
      model,
      rateLimit,
      metadata,
    });
  }

  /** True if the provider withheld the answer because of the prompt. */
  private get isBlocked(): boolean {
    const { blockReason } = objectOf(this.metadata['promptFeedback']);
    return nonEmptyString(blockReason) !== undefined;
  }

  private generations(): readonly Generation[] {
    const candidates = [...this.candidates].sort(([a], [b]) => a - b);
    if (candidates.length === 0) return [BLOCKED];
    return candidates.map(([, candidate]) => {
      candidate.end();
      return candidate.generation(this.usage);
    });
  }

  /** @param at position in the event, for the first candidate, which often has no index */
  private addCandidate(fields: JsonObject, at: number): void {
    const { index } = fields;
    const number = typeof index === 'number' ? index : at;
    let candidate = this.candidates.get(number);
    if (!candidate) {
      candidate = new Candidate(number === 0 ? this.emit : () => undefined);
      this.candidates.set(number, candidate);
    }
    candidate.add(fields);
  }
}

/** The answer to a blocked prompt; `promptFeedback` in the metadata has the reason. */
const BLOCKED: Generation = {
  message: { role: 'assistant', content: '' },
  finishReason: 'content_filter',
};
