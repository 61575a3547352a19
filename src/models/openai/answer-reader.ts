import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatResponse, RateLimit } from '../../chat/chat-response.js';
import type { Prompt } from '../../chat/prompt.js';
import { IncompleteResponseError, ModelCallError } from '../../errors.js';
import { CompletionFold } from './completion-fold.js';
import { ProviderFailure } from './model-errors.js';
import { SseDecoder } from './sse-decoder.js';
import { isWire } from './wire-json.js';
import { fromWireResponse } from './wire.js';

/** What the headers of an answer say. */
export interface AnswerHeaders {
  readonly contentType: string;
  readonly rateLimit?: RateLimit | undefined;
}

/**
 * Reads the body of an answer, by its first character and not by what was asked for or what its content type claims: events,
 * or a JSON document. Decides whether the answer is complete: a finish reason or the end marker must have come.
 */
export class AnswerReader {
  /** Made when it is needed: a call is mostly answered by a document. */
  private begun: CompletionFold | undefined;
  /** Decodes a body of events; undefined until it is known to be one. */
  private events: SseDecoder | undefined;
  /** Decodes a body that is a document; undefined until it is known to be one. */
  private decoder: InstanceType<typeof TextDecoder> | undefined;
  private document = '';
  private ending = false;
  /** Whether the end marker came, or nobody listens any more: what follows does not count. */
  done = false;

  /**
   * @param emit hears the deltas
   * @param hide makes a text fit for an error
   */
  constructor(
    private readonly prompt: Prompt,
    private readonly emit: (event: ChatEvent) => void,
    private readonly hide: (text: string) => string,
  ) {}

  /** The text so far, for errors. */
  get partialText(): string {
    return this.hide(this.fold.text);
  }

  /** Whether the model has said why it stopped; what may still come is usage and the end marker. */
  get finished(): boolean {
    return this.fold.finished;
  }

  private get fold(): CompletionFold {
    return (this.begun ??= new CompletionFold(this.emit));
  }

  push(bytes: Uint8Array): void {
    if (this.events) this.events.push(bytes);
    else if (this.decoder) this.document += this.decoder.decode(bytes, { stream: true });
    else this.recognise(bytes);
  }

  /**
   * The complete answer, when the body has ended.
   * @throws IncompleteResponseError if the body was cut off
   */
  end(headers: AnswerHeaders): ChatResponse {
    if (this.decoder) return this.fromDocument(this.document + this.decoder.decode(), headers);
    this.ending = true;
    this.events?.end();
    if (this.fold.error) throw new ProviderFailure(this.fold.error);
    if (!this.done && !this.fold.finished) throw this.fold.chunks === 0 ? this.noAnswer(headers) : this.cutOff();
    if (!this.fold.started) throw new ModelCallError('The server ended its stream without an answer.');
    return this.fold.response(this.prompt, headers.rateLimit);
  }

  /** The complete answer, from the whole body. */
  readAll(body: string, headers: AnswerHeaders): ChatResponse {
    const text = body.trimStart(); // a byte order mark is a blank, too
    if (DOCUMENT.includes(text.charAt(0))) return this.fromDocument(text, headers);
    this.push(new TextEncoder().encode(body));
    return this.end(headers);
  }

  /** Blanks and a byte order mark may come first; servers send blank lines to keep a connection alive. */
  private recognise(bytes: Uint8Array): void {
    const start = bytes.findIndex((byte) => !BLANK.includes(byte));
    if (start < 0) return;
    if (DOCUMENT.includes(String.fromCharCode(bytes[start] as number))) this.decoder = new TextDecoder();
    else this.events = new SseDecoder((data, event) => this.onEvent(data, event));
    this.push(bytes.subarray(start));
  }

  private onEvent(data: string, event: string): void {
    if (this.done) return;
    if (data.startsWith('[DONE]')) {
      this.done = true;
      return;
    }
    const chunk = this.parse(data, event);
    if (!isWire(chunk)) return;
    if (chunk['error'] || event === 'error') throw new ProviderFailure(chunk['error'] || chunk);
    if (!chunk['choices'] && (chunk['object'] === 'error' || chunk['type'] === 'error')) throw new ProviderFailure(chunk);
    this.fold.add(chunk);
  }

  private parse(data: string, event: string): unknown {
    try {
      return JSON.parse(data);
    } catch {
      // an event without data keeps a connection alive, an unfinished one at the end was cut off
      if (this.ending || data.trim() === '') return undefined;
      if (event === 'error') throw new ProviderFailure(data);
      throw new ModelCallError('The server sent an event that is not JSON.', { partialText: this.partialText });
    }
  }

  private fromDocument(text: string, headers: AnswerHeaders): ChatResponse {
    const body = this.parseDocument(text, headers);
    const error = failureIn(body);
    if (error) throw new ProviderFailure(error);
    const response = fromWireResponse(body, this.prompt, headers.rateLimit);
    this.emitWhole(response);
    return response;
  }

  private parseDocument(text: string, headers: AnswerHeaders): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw text.startsWith('<') ? this.noAnswer(headers) : this.cutOff();
    }
  }

  /** The deltas of a server that does not stream. */
  private emitWhole({ message: { reasoning, text, toolCalls } }: ChatResponse): void {
    if (reasoning) this.emit({ type: 'reasoning-delta', text: reasoning });
    if (text) this.emit({ type: 'text-delta', text });
    for (const [index, { id, name, arguments: args }] of toolCalls.entries())
      this.emit({ type: 'tool-call-delta', index, id, name, arguments: args });
  }

  private cutOff(): IncompleteResponseError {
    return new IncompleteResponseError('The answer ended early: no finish reason and no end marker arrived.', {
      partialText: this.partialText,
      retryable: true,
    });
  }

  private noAnswer({ contentType }: AnswerHeaders): ModelCallError {
    const nothing = !this.events && !this.decoder;
    if (nothing || (this.events && contentType.includes('event-stream'))) return this.cutOff();
    return new ModelCallError(
      `The server answered with ${this.hide(contentType)} that is no chat completion. Is the base URL that of an OpenAI-compatible API?`,
    );
  }
}

const DOCUMENT: readonly string[] = ['{', '[', '<'];
/** Space, tab, line feed, carriage return, and the bytes of a byte order mark. */
const BLANK: readonly number[] = [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf];

/** The error that some servers send with status 200: of the whole, of the first choice, or in a list (Google). */
function failureIn(body: unknown): unknown {
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  if (!isWire(whole)) return undefined;
  const { error, choices } = whole;
  if (error) return error;
  if (!Array.isArray(choices)) return whole['object'] === 'error' || whole['type'] === 'error' ? whole : undefined;
  const first: unknown = choices[0];
  return isWire(first) ? first['error'] : undefined;
}
