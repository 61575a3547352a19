import type OpenAI from 'openai';
import { cancellationOf } from '../../chat/cancellation.js';
import type { ChatEvent } from '../../chat/chat-event.js';
import type { ModelRun } from '../../chat/chat-model.js';
import type { ChatResponse } from '../../chat/chat-response.js';
import { AdvisorContext } from '../../chat/context.js';
import type { Prompt } from '../../chat/prompt.js';
import { ModelTimeoutError } from '../../errors.js';
import type { Subscriber } from '../../rxjs.js';
import { AnswerReader, type AnswerHeaders } from './answer-reader.js';
import { isNetworkError, toModelError } from './model-errors.js';
import type { PostCompletion } from './post-completion.js';
import { rateLimitOf } from './rate-limit.js';
import { withRetries } from './retry.js';
import { redact, secretsOf } from './secrets.js';
import type { Wire } from './wire-json.js';

/** How requests are sent; see the options of `OpenAIChatModel`. */
export interface CompletionSettings {
  readonly client: OpenAI;
  readonly post: PostCompletion;
  readonly maxRetries: number;
  readonly timeout: number;
  readonly firstChunkTimeout: number;
  readonly idleTimeout: number;
  readonly streamUsage: boolean;
}

/** What is asked: the messages of a prompt, what its options make of the body, and the run that it is a part of. */
export interface CompletionTask {
  readonly prompt: Prompt;
  readonly options: Wire;
  readonly run: ModelRun;
}

/** A time that timers of the platform and of the `openai` package accept: whole milliseconds, 24 days at most. */
function toTimer(milliseconds: number): number {
  return Math.min(Math.ceil(milliseconds), 2 ** 31 - 1);
}

/** One request to the server, from the prompt to the complete answer. */
export class CompletionRequest {
  private readonly controller = new AbortController();
  private readonly release: (() => void) | undefined;
  private answer: AnswerReader | undefined;
  private body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heard = 0;
  private wake: (() => void) | undefined;
  private ended = false;

  constructor(
    private readonly settings: CompletionSettings,
    private readonly task: CompletionTask,
  ) {
    const { run } = task;
    const abort = (reason: unknown): void => this.abort(reason);
    if (run.onCancel) this.release = run.onCancel(abort);
    else if (run.signal) this.release = cancellationOf(run.signal).onCancel(abort);
  }

  /** The whole answer at once. */
  call(): Promise<ChatResponse> {
    return this.ask(false, () => undefined);
  }

  /** The answer piece by piece. Never rejects: whatever happens goes to the subscriber. */
  async stream(subscriber: Subscriber<ChatEvent>): Promise<void> {
    try {
      const response = await this.ask(true, (event) => subscriber.next(event));
      subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
      subscriber.complete();
    } catch (error) {
      subscriber.error(error);
    }
  }

  /** Ends the request silently: its socket is closed, nobody is told. */
  stop(): void {
    this.abort(undefined);
    this.end();
  }

  private abort(reason: unknown): void {
    if (this.ended) return;
    this.controller.abort(reason);
    if (this.answer) this.answer.done = true; // what is left in the buffer must not be emitted
    this.wake?.();
  }

  private async ask(stream: boolean, emit: (event: ChatEvent) => void): Promise<ChatResponse> {
    const { timeout } = this.settings;
    const answer = (this.answer = new AnswerReader(this.task.prompt, emit, (text) => redact(text, this.secrets)));
    let begun = false;
    try {
      this.expire(timeout, `The answer did not ${stream ? 'begin' : 'arrive'} within ${timeout} ms (option timeout).`);
      const response = await this.send(stream);
      begun = true;
      const headers = headersOf(response);
      if (stream) await this.read(response, answer);
      const whole = stream ? answer.end(headers) : answer.readAll(await response.text(), headers);
      this.controller.signal.throwIfAborted();
      return whole;
    } catch (error) {
      const wrapped = this.wrap(error, begun ? answer.partialText : undefined);
      this.abort(undefined); // a body that is of no use any more must not be sent on
      throw wrapped;
    } finally {
      this.end();
    }
  }

  private send(stream: boolean): Promise<Response> {
    const { post, maxRetries, timeout, streamUsage } = this.settings;
    const { prompt, options, run } = this.task;
    const { signal } = this.controller;
    const body = { prompt, options, stream: stream && { usage: streamUsage } };
    const wrap = (error: unknown): unknown => this.wrap(error);
    return withRetries({ maxRetries, signal, onRetry: run.onRetry, wrap }, () => post(body, signal, toTimer(timeout)));
  }

  /** Reads to the end marker, or to the end; the next buffer is asked for only when the last was delivered. */
  private async read({ body }: Response, answer: AnswerReader): Promise<void> {
    if (!body) return;
    const { firstChunkTimeout, idleTimeout } = this.settings;
    const reader: ReadableStreamDefaultReader<Uint8Array> = (this.body = body.getReader());
    const watchIdle = (): void => this.expire(idleTimeout, `The answer paused for more than ${idleTimeout} ms (option idleTimeout).`);
    this.expire(firstChunkTimeout, `Nothing of the answer arrived within ${firstChunkTimeout} ms (option firstChunkTimeout).`);
    let first = true;
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        if (first) watchIdle();
        else this.heard = performance.now();
        first = false;
        answer.push(piece.value);
        if (answer.done) {
          if (!this.ended) drain(reader);
          return;
        }
        const pause = this.task.run.ready?.();
        if (!pause) continue;
        await this.hold(pause);
        watchIdle();
      }
    } catch (error) {
      // the answer is whole, only the connection ended badly
      if (!answer.finished || !isNetworkError(error) || this.controller.signal.aborted) throw error;
    }
  }

  /** Reads no further, and so holds the server back; the consumer's pause is not the server's, so no time runs. */
  private async hold(pause: Promise<void>): Promise<void> {
    clearTimeout(this.timer);
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      void pause.then(resolve, resolve);
    });
  }

  /**
   * Limits how long the server may be silent. One timer watches all pieces of a stream: when it fires it looks when something
   * was last heard. An answer that lacks nothing but its end marker is taken as it is.
   */
  private expire(milliseconds: number, message: string): void {
    clearTimeout(this.timer);
    this.heard = performance.now();
    const check = (): void => {
      const left = milliseconds - (performance.now() - this.heard);
      if (left >= 1) this.timer = setTimeout(check, toTimer(left));
      else if (this.answer?.finished) void this.body?.cancel().catch(() => undefined);
      else this.controller.abort(new ModelTimeoutError(message, { retryable: true }));
    };
    this.timer = setTimeout(check, toTimer(milliseconds));
  }

  private wrap(error: unknown, partialText?: string): unknown {
    return toModelError(error, { secrets: this.secrets, signal: this.controller.signal, partialText });
  }

  private get secrets(): readonly string[] {
    return secretsOf(this.settings.client);
  }

  private end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.release?.();
  }
}

function headersOf({ headers }: Response): AnswerHeaders {
  return {
    get contentType() {
      return headers.get('content-type') ?? 'a body without content type';
    },
    rateLimit: rateLimitOf(headers),
  };
}

/** Reads what may follow the end marker, so that the connection can be used again; a server that does not end is cut off. */
function drain(body: ReadableStreamDefaultReader<Uint8Array>): void {
  const timer = setTimeout(() => void body.cancel().catch(() => undefined), 1_000);
  // the answer is complete; how its connection ends matters to nobody
  const end = (): void => clearTimeout(timer);
  const read = (): void => void body.read().then(({ done }) => (done ? end() : read()), end);
  read();
}
