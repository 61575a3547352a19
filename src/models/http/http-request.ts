import type { ChatEvent } from '../../chat/chat-event.js';
import type { ModelRun } from '../../chat/chat-model.js';
import { AdvisorContext } from '../../chat/context.js';
import { ModelTimeoutError } from '../../errors.js';
import { recordModelCall, RunRecord, trackWork, type CallDetails } from '../../chat/run-record.js';
import type { ModelCallRecord } from '../../chat/run-report.js';
import { onRunCancel } from '../../internal/cancellation.js';
import type { Subscriber } from '../../internal/rxjs.js';
import type { BodyReader } from './body-reader.js';
import { isNetworkError, toModelError, type ReceivedDetails } from './http-error.js';
import { cancel, drain, readText, type Source } from './response-body.js';
import { withRetries } from './retries.js';

/** Limits of a request, and how it is sent. Time limits are in milliseconds. */
export interface RequestSettings {
  /** Kind and name of the model, for the ledger of a run. @default 'chat' */
  readonly kind?: ModelCallRecord['kind'];
  readonly model?: string | undefined;
  readonly maxRetries: number;
  /** Time limit for a whole call, or for a stream to begin, retries included. */
  readonly timeout: number;
  readonly firstChunkTimeout?: number;
  readonly idleTimeout?: number;
  /** Credentials that must not appear in errors. */
  readonly secrets: () => readonly string[];
}

/**
 * Sends a request once; resolves with the response, its body not read.
 * @param timeout time limit in the range of timers
 * @throws HttpError for an error status, ConnectionError if no response came
 */
export type SendRequest = (signal: AbortSignal, timeout: number) => Promise<Response>;

/** One request to a server with its retries, time limits, cancellation and backpressure. */
export class HttpRequest {
  private readonly controller = new AbortController();
  private readonly release: () => void;
  private reader: BodyReader | undefined;
  private body: Source | undefined;
  private giveUp: ((reason: unknown) => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastActivity = 0;
  private resume: (() => void) | undefined;
  private ended = false;

  constructor(
    private readonly settings: RequestSettings,
    private readonly run: ModelRun,
    private readonly send: SendRequest,
  ) {
    this.release = onRunCancel(run, (reason) => this.abort(reason));
  }

  /**
   * @param read reads the body as a whole
   * @param reader its state is added to errors
   */
  call<T extends CallDetails>(
    read: (body: string, headers: Headers) => T,
    reader?: BodyReader,
  ): Promise<T> {
    this.reader = reader;
    return this.perform(async (response) => {
      const source = this.open(response);
      return read(source ? await readText(source) : '', response.headers);
    });
  }

  /** Reads the body piece by piece. Never rejects: every outcome goes to the subscriber. */
  async stream(reader: BodyReader, subscriber: Subscriber<ChatEvent>): Promise<void> {
    this.reader = reader;
    try {
      const response = await this.perform(async (result) => {
        await this.readBody(result, reader);
        return reader.end(result.headers);
      });
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

  private perform<T extends CallDetails>(read: (response: Response) => Promise<T>): Promise<T> {
    const { run, settings } = this;
    const record = run.inLedger ? undefined : RunRecord.of(run.signal);
    const { kind = 'chat', model } = settings;
    const done = recordModelCall(record, kind, model, () => this.sendAndRead(read));
    trackWork(run, done);
    return done;
  }

  private async sendAndRead<T>(read: (response: Response) => Promise<T>): Promise<T> {
    let begun = false;
    this.limitSilence('timeout');
    try {
      return await this.untilAborted(async () => {
        const response = await this.sendWithRetries();
        begun = true;
        const result = await read(response);
        this.controller.signal.throwIfAborted();
        return result;
      });
    } catch (error) {
      const wrapped = this.toError(error, begun ? (this.reader?.received ?? {}) : undefined);
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

  private sendWithRetries(): Promise<Response> {
    const { maxRetries, timeout } = this.settings;
    const { signal } = this.controller;
    return withRetries(maxRetries, { signal, onRetry: this.run.onRetry }, async () => {
      try {
        const response = await this.send(signal, toTimer(timeout));
        if (signal.aborted) cancel(response.body);
        signal.throwIfAborted();
        return response;
      } catch (error) {
        throw this.toError(error);
      }
    });
  }

  private open({ body }: Response): Source | undefined {
    return (this.body = body?.getReader());
  }

  /** Reads up to the end marker or the end; delivers each buffer before it reads the next. */
  private async readBody(response: Response, reader: BodyReader): Promise<void> {
    const source = this.open(response);
    if (!source) return;
    this.limitSilence('firstChunkTimeout');
    try {
      let piece = await source.read();
      this.limitSilence('idleTimeout');
      for (; !piece.done; piece = await source.read()) {
        this.lastActivity = performance.now();
        reader.push(piece.value);
        if (reader.done) {
          if (!this.ended) trackWork(this.run, drain(source));
          return;
        }
        const backpressure = this.run.ready?.();
        if (backpressure) await this.pause(backpressure);
      }
    } catch (error) {
      // a complete response counts, however its connection ended
      if (!reader.fold.finished || !isNetworkError(error) || this.controller.signal.aborted)
        throw error;
    }
  }

  /** Stops reading until the consumer is ready; no time limit runs meanwhile. */
  private async pause(backpressure: Promise<void>): Promise<void> {
    clearTimeout(this.timer);
    await new Promise<void>((resolve) => {
      this.resume = resolve;
      void backpressure.then(resolve, resolve);
    });
    this.limitSilence('idleTimeout');
  }

  /** Limits the time without data. One timer serves all pieces: it compares the last activity. */
  private limitSilence(option: keyof typeof FAILURES): void {
    const milliseconds = this.settings[option] ?? Infinity;
    clearTimeout(this.timer);
    this.lastActivity = performance.now();
    const onTimer = (): void => {
      const left = milliseconds - (performance.now() - this.lastActivity);
      if (left >= 1) this.timer = setTimeout(onTimer, toTimer(left));
      else if (this.reader?.fold.finished)
        cancel(this.body); // lacks only its end marker
      else {
        const message = `${FAILURES[option]} within ${milliseconds} ms (option ${option}).`;
        const details = { ...this.reader?.received, retryable: true };
        this.abort(new ModelTimeoutError(message, details));
      }
    };
    this.timer = setTimeout(onTimer, toTimer(milliseconds));
  }

  private toError(error: unknown, received?: ReceivedDetails): unknown {
    return toModelError(error, this.controller.signal, this.settings.secrets(), received);
  }

  private end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.release();
  }
}

const FAILURES = {
  timeout: 'The response did not arrive',
  firstChunkTimeout: 'No data of the response arrived',
  idleTimeout: 'No further data of the response arrived',
};

/** Whole milliseconds in the range of `setTimeout`. */
function toTimer(milliseconds: number): number {
  return Math.min(Math.ceil(milliseconds), 2 ** 31 - 1);
}
