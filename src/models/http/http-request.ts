import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ModelRun } from '../../core/chat/chat-model.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import { AdvisorContext } from '../../core/chat/context.js';
import { recordModelCall, trackWork } from '../../core/chat/record-model-call.js';
import { RunRecord, type CallDetails } from '../../core/chat/run-record.js';
import type { ModelCallRecord } from '../../core/chat/run-report.js';
import { onRunCancel } from '../../core/internal/cancellation.js';
import type { Subscriber } from '../../core/internal/rxjs.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import { isNetworkError, tooLargeError } from './http-error.js';
import { RequestErrors } from './request-errors.js';
import {
  cancel,
  drain,
  readInto,
  readText,
  type AnswerReader,
  type BegunAnswer,
  type Piece,
  type Source,
} from './response-body.js';
import { withRetries } from './retries.js';
import { showRequest } from './sent-body.js';
import { TimeLimits, toTimer, type TimeSettings } from './time-limits.js';

/** Limits of a request, and how it is sent. */
export interface RequestSettings extends TimeSettings {
  /** Kind and name of the model, for the ledger of a run. @default 'chat' */
  readonly kind?: ModelCallRecord['kind'];
  readonly model?: string | undefined;
  readonly maxRetries: number;
  /** Maximum number of bytes of an answer. */
  readonly maxResponseBytes: number;
  /** Credentials that must not appear in errors. */
  readonly secrets: () => readonly string[];
}

/**
 * Sends a request once; resolves with the response, its body not read.
 * @param timeout time limit in the range of timers
 * @throws HttpError for an error status, ConnectionError if no response came
 */
export interface SendRequest<T = Response> {
  (signal: AbortSignal, timeout: number): Promise<T>;
  /** Address of the request; undefined if only a package knows it. */
  readonly url?: string | undefined;
  /** The body as an object; undefined if a package makes it. */
  readonly toObject?: (() => unknown) | undefined;
}

/** One request to a server with its retries, time limits, cancellation and backpressure. */
export class HttpRequest<P extends Piece = Uint8Array> {
  private readonly controller = new AbortController();
  private readonly release: () => void;
  private reader: AnswerReader<P> | undefined;
  private body: Source<P> | undefined;
  private giveUp: ((reason: unknown) => void) | undefined;
  private readonly time: TimeLimits;
  private readonly errors: RequestErrors;
  private received = 0;
  private resume: (() => void) | undefined;
  private ended = false;

  constructor(
    private readonly settings: RequestSettings,
    private readonly run: ModelRun,
    private readonly send: SendRequest<BegunAnswer<P>>,
  ) {
    const { model, secrets } = settings;
    this.errors = new RequestErrors({ model, secrets, url: send.url }, this.controller.signal);
    this.time = new TimeLimits(settings, (option) => this.onExpired(option));
    this.release = onRunCancel(run, (reason) => this.abort(reason));
  }

  /** @param read reads the body as a whole */
  call<T extends CallDetails>(
    this: HttpRequest,
    read: (body: string, headers: Headers) => T,
  ): Promise<T> {
    return this.perform(async (response) => {
      const source = this.open(response);
      return read(source ? await readText(source, this.count) : '', response.headers);
    });
  }

  /** Reads an answer as a whole: a document, or events up to their end marker. */
  answer(reader: AnswerReader<P>): Promise<ChatResponse> {
    this.reader = reader;
    return this.perform((response) => this.readAnswer(response, reader, false));
  }

  /** Reads the body piece by piece. Never rejects: every outcome goes to the subscriber. */
  async stream(reader: AnswerReader<P>, subscriber: Subscriber<ChatEvent>): Promise<void> {
    this.reader = reader;
    try {
      const response = await this.perform((begun) => this.readAnswer(begun, reader, true));
      subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
      subscriber.complete();
    } catch (error) {
      subscriber.error(error);
    }
  }

  /** Closes the connection without notifying the subscriber. */
  close(): void {
    this.abort(undefined);
    this.end();
  }

  private abort(reason: unknown): void {
    if (this.ended) return;
    this.controller.abort(reason);
    this.giveUp?.(reason);
    cancel(this.body);
    if (this.reader) this.reader.done = true; // events in the current buffer must not be emitted
    this.resume?.();
  }

  private perform<T extends CallDetails>(
    read: (response: BegunAnswer<P>) => Promise<T>,
  ): Promise<T> {
    const { run, settings } = this;
    const record = run.inLedger ? undefined : RunRecord.of(run.signal);
    const { kind = 'chat', model } = settings;
    const done = recordModelCall(record, kind, model, () => this.sendAndRead(read));
    trackWork(run, done);
    return done;
  }

  private async sendAndRead<T>(read: (response: BegunAnswer<P>) => Promise<T>): Promise<T> {
    let begun = false;
    this.time.limit('timeout');
    try {
      return await this.untilAborted(async () => {
        const response = await this.sendWithRetries();
        begun = true;
        const result = await read(response);
        this.controller.signal.throwIfAborted();
        return result;
      });
    } catch (error) {
      const received = begun ? (this.reader?.received ?? {}) : undefined;
      const wrapped = this.errors.convert(error, received);
      this.abort(undefined); // the rest of the body is not needed
      throw wrapped;
    } finally {
      this.end();
    }
  }

  /**
   * Awaits work, but no longer than the request: `fetch` and bodies may ignore the signal, and on
   * Node.js 20 and 22 a corrupted compressed body never settles. One promise serves all pieces.
   */
  private untilAborted<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.giveUp = reject;
      this.controller.signal.throwIfAborted();
      work().then(resolve, reject);
    });
  }

  private sendWithRetries(): Promise<BegunAnswer<P>> {
    const { maxRetries, timeout } = this.settings;
    const { signal } = this.controller;
    const { onRetry, maxRetries: max = maxRetries } = this.run;
    showRequest(this.send, this.run);
    return withRetries(Math.min(maxRetries, max), { signal, onRetry }, async () => {
      try {
        const response = await this.send(signal, toTimer(timeout));
        this.errors.headers = response.headers;
        if (signal.aborted) cancel(response.body);
        signal.throwIfAborted();
        return response;
      } catch (error) {
        throw this.errors.convert(error);
      }
    });
  }

  private open({ body }: BegunAnswer<P>): Source<P> | undefined {
    return (this.body = body?.getReader());
  }

  private async readAnswer(
    response: BegunAnswer<P>,
    reader: AnswerReader<P>,
    isStream: boolean,
  ): Promise<ChatResponse> {
    const source = this.open(response);
    try {
      if (source)
        await (isStream
          ? this.readStream(source, reader)
          : readInto(reader, source, (piece) => this.push(piece, reader)));
      if (source && reader.done && !this.ended) trackWork(this.run, drain(source));
    } catch (error) {
      // a complete response counts, however its connection ended
      if (!reader.fold.finished || !isNetworkError(error) || this.controller.signal.aborted)
        throw error;
    }
    const slice = new TimeSlice();
    const answer = reader.end(response.headers);
    await slice.next(); // a document of megabytes takes long to fold, and its answer long to use
    return answer;
  }

  /** Reads up to the end marker or the end; delivers each buffer before it reads the next. */
  private async readStream(source: Source<P>, reader: AnswerReader<P>): Promise<void> {
    this.time.limit('firstChunkTimeout');
    let piece = await source.read();
    const slice = new TimeSlice();
    this.time.limit('idleTimeout');
    for (; !piece.done; piece = await source.read()) {
      this.time.touch();
      this.push(piece.value, reader);
      if (reader.done) return;
      const pause = slice.next();
      if (pause) await pause;
      const backpressure = this.run.ready?.();
      if (backpressure) await this.pause(backpressure);
    }
  }

  private push(piece: P, reader: AnswerReader<P>): void {
    this.count(piece);
    reader.push(piece);
    this.time.finish(reader.fold.finished && !reader.fold.mayContinue);
  }

  /** Stops reading until the consumer is ready, or the request is given up. */
  private pause(backpressure: Promise<void>): Promise<void> {
    const ready = new Promise<void>((resolve) => {
      this.resume = resolve;
      void backpressure.then(resolve, resolve);
    });
    return this.time.pause(ready);
  }

  /** @throws {@link LimitExceededError} if the answer is too large, before it is decoded */
  private readonly count = ({ byteLength }: Piece): void => {
    const value = this.settings.maxResponseBytes;
    this.received += byteLength;
    if (this.received <= value) return;
    throw tooLargeError(value, this.received, this.reader?.received);
  };

  private onExpired(option: keyof TimeSettings): void {
    if (this.reader?.fold.finished)
      cancel(this.body); // lacks only its end marker
    else this.abort(this.errors.expired(option, this.settings[option], this.reader?.received));
  }

  private end(): void {
    this.ended = true;
    this.time.end();
    this.release();
  }
}
