import type OpenAI from 'openai';
import type { Ready } from '../../chat/cancellation.js';
import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatResponse, RateLimit } from '../../chat/chat-response.js';
import { AdvisorContext } from '../../chat/context.js';
import type { Prompt } from '../../chat/prompt.js';
import { IncompleteResponseError, ModelCallError, ModelTimeoutError } from '../../errors.js';
import type { Subscriber } from '../../rxjs.js';
import { CompletionFold } from './completion-fold.js';
import { inBandError, toModelError } from './model-errors.js';
import { rateLimitOf } from './rate-limit.js';
import { withRetries } from './retry.js';
import { SseDecoder } from './sse-decoder.js';
import { fromWireResponse, isWire, toWireRequest, type Wire } from './wire.js';

/** How requests are sent; see the options of `OpenAIChatModel`. */
export interface CompletionSettings {
  readonly client: OpenAI;
  readonly maxRetries: number;
  readonly timeout: number;
  readonly firstChunkTimeout: number;
  readonly idleTimeout: number;
  readonly streamUsage: boolean;
}

/** One request to the server, from the prompt to the complete answer. */
export class CompletionRequest {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private release: (() => void) | undefined;
  private ended = false;

  constructor(
    private readonly settings: CompletionSettings,
    private readonly prompt: Prompt,
    private readonly options: Wire,
    private readonly ready: Ready | undefined,
  ) {}

  /** Something to do when the request is over. */
  onEnd(release: () => void): void {
    this.release = release;
  }

  abort(reason: unknown): void {
    if (!this.ended) this.controller.abort(reason);
  }

  /** Ends the request silently: its socket is closed, nobody is told. */
  stop(): void {
    this.abort(undefined);
    this.end();
  }

  /** The whole answer at once. */
  async call(): Promise<ChatResponse> {
    try {
      this.expire(this.settings.timeout, `The whole answer did not arrive within ${this.settings.timeout} ms (option timeout).`);
      const response = await this.send(false);
      return fromWireResponse(await readJson(response, await response.text()), this.prompt).with({
        rateLimit: rateLimitOf(response.headers),
      });
    } catch (error) {
      throw this.wrap(error);
    } finally {
      this.end();
    }
  }

  /** The answer piece by piece. Never rejects: whatever happens goes to the subscriber. */
  async stream(subscriber: Subscriber<ChatEvent>): Promise<void> {
    const fold = new CompletionFold((event) => subscriber.next(event));
    try {
      const answer = await this.read(await this.send(true), fold);
      this.end();
      if (answer.text !== null && fold.chunks === 0) subscriber.next({ type: 'text-delta', text: answer.text });
      subscriber.next({ type: 'response', response: answer, context: AdvisorContext.empty });
      subscriber.complete();
    } catch (error) {
      const wrapped = this.wrap(error, fold.text);
      this.stop();
      subscriber.error(wrapped);
    }
  }

  private send(stream: boolean): Promise<Response> {
    const { client, maxRetries, timeout, streamUsage } = this.settings;
    const { signal } = this.controller;
    const body = toWireRequest(
      this.prompt.messages,
      this.options,
      stream && { usage: streamUsage },
    ) as unknown as OpenAI.ChatCompletionCreateParams;
    return withRetries(maxRetries, signal, async () => {
      try {
        return await client.chat.completions.create(body, { signal, timeout, maxRetries: 0 }).asResponse();
      } catch (error) {
        throw this.wrap(error);
      }
    });
  }

  private async read(response: Response, fold: CompletionFold): Promise<ChatResponse> {
    const rateLimit = rateLimitOf(response.headers);
    const type = response.headers.get('content-type') ?? 'text/event-stream';
    if (type.includes('event-stream')) return this.toResponse(await this.readEvents(response, fold), fold, rateLimit);
    // not what was asked for: events under a wrong name, or a server that does not stream and answers at once
    const text = await response.text();
    if (/^\s*(?:data|event|id)?:/.test(text)) return this.toResponse(this.readText(text, fold), fold, rateLimit);
    return fromWireResponse(await readJson(response, text), this.prompt, rateLimit);
  }

  private toResponse(done: boolean, fold: CompletionFold, rateLimit: RateLimit | undefined): ChatResponse {
    if (!done && !fold.finished)
      throw new IncompleteResponseError('The answer ended early: no finish reason and no end marker arrived.', {
        partialText: fold.text,
        retryable: true,
      });
    if (!fold.started) throw new ModelCallError('The server answered with an empty stream.');
    return fold.response(this.prompt, rateLimit);
  }

  /** Reads to the end marker, or to the end; the next buffer is asked for only when the last was delivered. */
  private async readEvents(response: Response, fold: CompletionFold): Promise<boolean> {
    const events = this.decode(fold);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { firstChunkTimeout } = this.settings;
    this.expire(firstChunkTimeout, `Nothing of the answer arrived within ${firstChunkTimeout} ms (option firstChunkTimeout).`);
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        this.expireIdle();
        events.decoder.push(read.value);
        if (events.done || this.ended) break;
        const pause = this.ready?.();
        if (pause) await this.hold(pause);
      }
      events.decoder.end();
    } catch (error) {
      // a finish reason came: the answer is whole, only the connection ended badly
      if (!fold.finished || error instanceof ModelCallError || this.controller.signal.aborted) throw error;
    }
    if (events.done) void drain(reader);
    return events.done;
  }

  /** Reads no further, and so holds the server back; the consumer's pause is not the server's, so no time runs. */
  private async hold(pause: Promise<void>): Promise<void> {
    clearTimeout(this.timer);
    await pause;
    this.expireIdle();
  }

  private readText(text: string, fold: CompletionFold): boolean {
    const events = this.decode(fold);
    events.decoder.push(new TextEncoder().encode(text));
    events.decoder.end();
    return events.done;
  }

  private decode(fold: CompletionFold): { readonly decoder: SseDecoder; done: boolean } {
    const events = {
      done: false,
      decoder: new SseDecoder((data) => {
        if (events.done || this.ended) return;
        if (data === '[DONE]') events.done = true;
        else this.addChunk(data, fold);
      }),
    };
    return events;
  }

  private addChunk(data: string, fold: CompletionFold): void {
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch (error) {
      throw new ModelCallError('The server sent an event that is not JSON.', { cause: error, partialText: fold.text });
    }
    if (!isWire(chunk)) return;
    if (chunk['error']) throw inBandError(chunk['error'], this.secrets, fold.text);
    fold.add(chunk);
  }

  private expireIdle(): void {
    const { idleTimeout } = this.settings;
    this.expire(idleTimeout, `The answer paused for more than ${idleTimeout} ms (option idleTimeout).`);
  }

  /** Aborts the request with a timeout unless something happens first. */
  private expire(milliseconds: number, message: string): void {
    clearTimeout(this.timer);
    if (!Number.isFinite(milliseconds)) return;
    this.timer = setTimeout(() => this.controller.abort(new ModelTimeoutError(message, { retryable: true })), milliseconds);
  }

  private wrap(error: unknown, partialText?: string): unknown {
    return toModelError(error, { secrets: this.secrets, signal: this.controller.signal, ...(partialText && { partialText }) });
  }

  private get secrets(): readonly string[] {
    const { apiKey } = this.settings.client;
    return typeof apiKey === 'string' ? [apiKey] : [];
  }

  private end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.release?.();
  }
}

/** Reads what may follow the end marker, so that the connection can be used again; a server that does not end is cut off. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), 1_000);
  try {
    while (!(await reader.read()).done);
  } catch {
    // the answer is complete; how its connection ends matters to nobody
  } finally {
    clearTimeout(timer);
  }
}

async function readJson(response: Response, text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch (error) {
    const type = response.headers.get('content-type') ?? 'no content type';
    throw new ModelCallError(`The server answered with ${type} instead of JSON. Is the base URL that of an OpenAI-compatible API?`, {
      status: response.status,
      cause: error,
    });
  }
}
