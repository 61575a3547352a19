import type { ChatResponse, RateLimit, Usage } from '../../core/chat/chat-response.js';
import { LimitExceededError, ModelCallError } from '../../core/errors/errors.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { hasMoreValues } from '../../core/internal/json.js';
import { isCutJson } from '../../core/internal/partial-json.js';
import {
  incompleteBody,
  ReportedError,
  throwReportedError,
  unusableBody,
  type ReceivedDetails,
} from './http-error.js';
import { LineDecoder } from './line-decoder.js';
import { rateLimitOf } from './rate-limit.js';
import { redact } from '../../core/internal/redact.js';
import { SseDecoder } from './sse-decoder.js';

/** Mapping of the bodies of one API to a response, event by event or as one document. */
export interface ResponseFold {
  /** Name of a body of this API for errors, with its article. */
  readonly expected: string;
  /** Text so far. */
  readonly text: string;
  /** Usage so far, if the provider has reported it. */
  readonly usage: Usage | undefined;
  /** True after a finish reason; only usage and the end marker may follow. */
  readonly finished: boolean;
  /** True if a finish reason may not be the last one: some servers send one after every call. */
  readonly mayContinue?: boolean;
  /** True after the event that ends a stream, if the API has one besides `[DONE]`. */
  readonly ended?: boolean;
  /** True if the events of a stream are lines of JSON (NDJSON). @default server-sent events */
  readonly hasLines?: boolean;
  addEvent(event: JsonObject): void;
  addDocument(document: unknown): void;
  /** The complete response. */
  response(rateLimit: RateLimit | undefined): ChatResponse;
}

/** Limits of an answer while it is read. */
export interface AnswerLimits {
  /** Maximum size of an event in bytes, finished or not. */
  readonly maxEventBytes: number;
  /** Maximum number of JSON values of an event or a document. */
  readonly maxResponseValues: number;
}

/** The error for many small values, before they are parsed: 16 MiB of them would block the process for seconds. */
export function tooManyValues(value: number, received?: ReceivedDetails): LimitExceededError {
  return new LimitExceededError(`The answer has more than ${value} JSON values`, {
    limit: 'response-values',
    value,
    spent: value + 1,
    option: 'maxResponseValues',
    ...received,
  });
}

/**
 * Reads a body as a stream of events or as a JSON document: its first character decides, not the
 * requested mode or the content type. A stream is complete after a finish reason or an end marker.
 */
export class BodyReader {
  private readonly decoder = new TextDecoder();
  /** Decodes a stream of events; undefined until the body is recognized as one. */
  private events: SseDecoder | LineDecoder | undefined;
  /** A document; undefined until the body is recognized as one. */
  private document: string | undefined;
  private hasEvents = false;
  private ending = false;
  /** True after the end marker, or when the request is cancelled; later events are ignored. */
  done = false;

  /**
   * @param secrets credentials that must not appear in errors
   */
  constructor(
    readonly fold: ResponseFold,
    private readonly secrets: () => readonly string[],
    private readonly limits: AnswerLimits,
  ) {}

  /** Text, redacted, and usage so far, for errors. */
  get received(): ReceivedDetails {
    const { text, usage } = this.fold;
    return { partialText: redact(text, this.secrets()) || undefined, usage };
  }

  push(bytes: Uint8Array): void {
    this.pushText(this.decoder.decode(bytes, { stream: true }));
    if (this.events) this.checkSize(this.events.length);
  }

  end(headers: Headers): ChatResponse {
    this.pushText(this.decoder.decode());
    if (this.document === undefined) this.endEvents(headers);
    else this.addDocument(this.document, headers);
    return this.fold.response(rateLimitOf(headers));
  }

  private pushText(text: string): void {
    if (this.events) this.events.push(text);
    else if (this.document === undefined) this.begin(text.trimStart());
    else this.document += text;
  }

  /** Blank lines at the start are skipped: servers send them to keep a connection alive. */
  private begin(text: string): void {
    const onEvent = (data: string, event = ''): void => this.onEvent(data, event);
    if (this.fold.hasLines && text.startsWith('{')) this.events = new LineDecoder(onEvent);
    else if (/^[{[<]/.test(text)) this.document = text;
    else if (text !== '') this.events = new SseDecoder(onEvent);
    this.events?.push(text);
  }

  private endEvents(headers: Headers): void {
    this.ending = true;
    this.events?.end();
    if (!this.done && !this.fold.finished) throw this.unusableBody(headers);
  }

  private onEvent(data: string, event: string): void {
    if (this.done) return;
    this.checkSize(data.length);
    if (data.startsWith('[DONE]')) {
      this.done = true;
      return;
    }
    this.checkValues(data);
    const json = this.parseEvent(data, event);
    if (!isPlainObject(json)) return;
    if (event === 'error') throw new ReportedError(json['error'] || json);
    throwReportedError(json);
    this.hasEvents = true;
    this.fold.addEvent(json);
    if (this.fold.ended) this.done = true;
  }

  /** @param length of an event as text: that is what is kept, and never more than its bytes */
  private checkSize(length: number): void {
    const value = this.limits.maxEventBytes;
    if (length <= value) return;
    throw new LimitExceededError(`An event of the answer exceeded ${value} bytes`, {
      limit: 'event-bytes',
      value,
      spent: length,
      option: 'maxEventBytes',
      ...this.received,
    });
  }

  private checkValues(text: string): void {
    if (hasMoreValues(text, this.limits.maxResponseValues))
      throw tooManyValues(this.limits.maxResponseValues, this.received);
  }

  private parseEvent(data: string, event: string): unknown {
    try {
      return JSON.parse(data);
    } catch {
      // an event without data keeps a connection alive, an unfinished one at the end was cut off
      if (this.ending || data.trim() === '') return undefined;
      if (event === 'error') throw new ReportedError(data);
      throw new ModelCallError('The server sent an event that is not JSON.', this.received);
    }
  }

  private addDocument(text: string, headers: Headers): void {
    this.checkValues(text);
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch {
      throw this.unusableBody(headers);
    }
    throwReportedError(document);
    this.fold.addDocument(document);
  }

  private unusableBody(headers: Headers): ModelCallError {
    const { document, events, fold } = this;
    if (this.hasEvents) return incompleteBody(this.received);
    const isCut =
      document !== undefined
        ? isCutJson(document)
        : !events ||
          fold.hasLines ||
          Boolean(headers.get('content-type')?.includes('event-stream'));
    return unusableBody(fold.expected, isCut, headers, this.secrets());
  }
}
