import type { ChatEvent } from '../../core/chat/chat-event.js';
import { cancelledError, onAbort } from '../../core/internal/cancellation.js';
import { notify } from '../../core/internal/notify.js';
import type { HttpError } from './http-error.js';
import { Silence } from './silence.js';
import type { StreamEncoder } from './stream-format.js';

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

/** Settings of a {@link FramedBody}. */
export interface BodySettings {
  /** Milliseconds without a frame until a heartbeat; 0 for none. */
  readonly heartbeat: number;
  readonly keepRunning: boolean;
  /** True if the client has frames of an earlier response: a failure is a frame, too. */
  readonly isResumed: boolean;
  readonly signal: AbortSignal | undefined;
  readonly toError: (error: unknown) => HttpError;
  readonly onError: ((error: unknown, shown: HttpError) => void) | undefined;
}

const BYTES = new TextEncoder();
const CLIENT_LEFT = 499;

/** The frames of a run as the body of a response; an event is read when its frames are asked for. */
export class FramedBody {
  /** Frames that are not written yet. */
  private frames = '';
  /** True from the first frame on: then the status is sent. */
  private isOpen: boolean;
  /** True if the run has begun. */
  private hasBegun = false;
  /** True while an event is asked for. */
  private isAsking = false;
  /** Set when nothing follows {@link frames}: with the error if the connection has to break. */
  private ending: { readonly error?: unknown } | undefined;
  private failure: HttpError | undefined;
  /** Resolves the wait for frames, or for the end. */
  private wake: (() => void) | undefined;
  private readonly silence: Silence;
  private release = (): void => undefined;

  constructor(
    private readonly events: AsyncIterator<ChatEvent>,
    private readonly encoder: StreamEncoder,
    private readonly settings: BodySettings,
  ) {
    const { signal, heartbeat, isResumed } = settings;
    this.isOpen = isResumed;
    this.silence = new Silence(heartbeat, () => this.beat());
    // an aborted one calls back at once
    if (signal) this.release = onAbort(signal, () => this.abort(signal));
  }

  /**
   * Waits for the first frame that comes from the model, but not longer than for a heartbeat. Frames
   * before it, of the start and of advisors, wait for it, since the model may still refuse.
   * @returns the error of a run that failed before
   */
  async open(): Promise<HttpError | undefined> {
    if (!this.ending) await this.more();
    this.isOpen = true;
    return this.failure;
  }

  /** True after {@link open} if the run has ended and the client has all of it. */
  get isEmpty(): boolean {
    return this.frames === '' && this.ending !== undefined && !('error' in this.ending);
  }

  /** The body, after {@link open}. Nothing is read ahead. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream(
      { pull: (controller) => this.pull(controller), cancel: () => this.leave() },
      { highWaterMark: 0 },
    );
  }

  private pull(controller: Controller): Promise<void> | undefined {
    if (this.frames !== '' || this.ending) return this.flush(controller);
    return this.more().then(() => this.flush(controller));
  }

  private flush(controller: Controller): undefined {
    const { frames, ending } = this;
    this.frames = '';
    this.silence.end();
    if (frames !== '') controller.enqueue(BYTES.encode(frames));
    if (!ending) return;
    if (!('error' in ending)) controller.close();
    // an error drops what was not read, so it waits for the next pull
    else if (frames === '') controller.error(ending.error);
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      this.silence.watch();
      this.ask();
    });
  }

  private settle(): void {
    this.wake?.();
    this.wake = undefined;
  }

  private ask(): void {
    if (this.isAsking) return;
    this.hasBegun = this.isAsking = true;
    this.events.next().then(
      (result) => this.receive(result),
      (error: unknown) => this.receiveError(error),
    );
  }

  private receive(next: IteratorResult<ChatEvent>): void {
    this.isAsking = false;
    if (this.ending) return this.drain(next.done);
    try {
      if (next.done) return this.finish(this.encoder.end());
      const frames = this.encoder.encode(next.value);
      this.frames += frames;
      if (frames !== '' && (this.isOpen || isOfModel(next.value))) this.settle();
      else this.ask();
    } catch (error) {
      this.fail(error);
    }
  }

  private receiveError(error: unknown): void {
    this.isAsking = false;
    if (!this.ending) return this.fail(error);
    // of a run that the client has left
    if (this.settings.keepRunning) this.report(error, this.settings.toError(error));
  }

  private finish(frames: string): void {
    this.frames += frames;
    this.ending = {};
    this.cleanUp();
    this.settle();
  }

  private fail(error: unknown): void {
    const shown = this.settings.toError(error);
    this.report(error, shown);
    const frames = this.isOpen ? this.framesOf(shown) : '';
    this.failure = shown;
    this.frames += frames;
    this.end(frames === '' ? { error } : {});
  }

  private framesOf(shown: HttpError): string {
    try {
      return this.encoder.fail(shown);
    } catch {
      return ''; // the connection breaks
    }
  }

  private report(error: unknown, shown: HttpError): void {
    const { onError } = this.settings;
    if (onError && shown.status !== CLIENT_LEFT) notify(() => onError(error, shown));
  }

  private abort({ reason }: AbortSignal): void {
    if (!this.ending) this.fail(cancelledError(reason));
  }

  private leave(): void {
    if (this.ending) return;
    this.frames = '';
    this.end({});
  }

  /** Ends the response before the run has ended. */
  private end(ending: { readonly error?: unknown }): void {
    this.ending = ending;
    this.cleanUp();
    if (this.settings.keepRunning && this.hasBegun) this.ask();
    else this.events.return?.().catch(() => undefined); // it has no reader
    this.settle();
  }

  private drain(isDone: boolean | undefined): void {
    if (!isDone && this.settings.keepRunning) this.ask();
  }

  private cleanUp(): void {
    this.release();
    this.silence.stop();
  }

  private beat(): void {
    if (!this.wake) return;
    if (this.isOpen) this.frames += this.encoder.heartbeat;
    if (!this.isOpen || this.frames !== '') this.settle();
    else this.silence.watch();
  }
}

/** False for what may come before the model has accepted a request. */
function isOfModel({ type }: ChatEvent): boolean {
  return type !== 'iteration-start' && type !== 'custom';
}
