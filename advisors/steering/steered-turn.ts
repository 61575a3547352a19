import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { decodeMessage, encodeMessage } from '../../src/core/chat/message-codec.js';
import type { UserMessage } from '../../src/core/chat/message.js';
import type { RunRecorder, StepCodec } from '../../src/core/chat/run-recorder.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { Cancellation } from '../../src/core/internal/cancellation.js';
import type { SteeringInbox, SteeringMode, SteeringOutcome } from './steering-inbox.js';

/** A message on its way. */
export class SentMessage {
  readonly outcome: Promise<SteeringOutcome>;
  /** The first iteration whose request has it, in the latest run of the loop. */
  iteration = Infinity;
  isSettled = false;
  /** The step of the turn that has it. */
  step: string | undefined;
  private resolve!: (outcome: SteeringOutcome) => void;

  /** @param isReplayed true if an earlier execution of the turn has taken it out of its inbox */
  constructor(
    readonly message: UserMessage,
    readonly mode: SteeringMode,
    readonly isReplayed = false,
  ) {
    this.outcome = new Promise((resolve) => (this.resolve = resolve));
  }

  /** Only the first outcome counts. */
  settle(outcome: SteeringOutcome): void {
    this.isSettled = true;
    this.resolve(outcome);
  }
}

const MESSAGES: StepCodec<readonly SentMessage[]> = {
  encode: (sent) => sent.map(({ message }) => encodeMessage(message)),
  decode: (recorded) =>
    (recorded as readonly string[]).map(
      (text) => new SentMessage(decodeMessage(text) as UserMessage, 'steer', true),
    ),
};

/** The messages of one turn, and their outcomes. */
export class SteeredTurn {
  /** Messages that no request has yet, and the queued ones. */
  private open: readonly SentMessage[] = [];
  private added: readonly SentMessage[] = [];
  /** Settles a message that no model has answered when the turn has ended. */
  private end: ((sent: SentMessage) => void) | undefined;
  /** Cancels what runs when a message interrupts; another one for each model call. */
  interruption = new Cancellation();

  constructor(readonly inbox: SteeringInbox) {}

  /** @throws {@link InvalidArgumentError} if the inbox belongs to another turn */
  begin(): void {
    this.inbox.open(this);
    this.end = undefined;
  }

  add(sent: SentMessage): void {
    this.open = [...this.open, sent];
    if (sent.mode === 'interrupt') this.interruption.cancel();
  }

  /** True if a message waits for the next model call. */
  get hasNext(): boolean {
    return this.open.some(isForTurn);
  }

  /** Messages that no request has yet, for an inspector. */
  get waiting(): readonly Pick<SentMessage, 'message' | 'mode'>[] {
    return this.open.map(({ message, mode }) => ({ message, mode }));
  }

  /** Takes the messages for the next model call. */
  takeNext(): readonly SentMessage[] {
    const next = this.open.filter(isForTurn);
    if (next.length > 0) this.open = this.open.filter((sent) => !isForTurn(sent));
    return next;
  }

  /**
   * Takes the messages for the next model call in a step, also if there are none: when the turn runs
   * again, it has the same ones at the same place.
   * @throws the error of the recorder
   */
  async recordNext(recorder: RunRecorder, iteration: number): Promise<readonly SentMessage[]> {
    let taken: readonly SentMessage[] | undefined;
    let step: string | undefined;
    const take = async (name: string | undefined): Promise<readonly SentMessage[]> => {
      step = name;
      // once, also for an engine that tries a step again
      return (taken ??= this.takeNext());
    };
    try {
      const next = await recorder.step(`steering ${iteration}`, take, MESSAGES);
      for (const sent of next) {
        sent.step = step;
        sent.iteration = iteration;
      }
      return next;
    } catch (error) {
      this.open = [...(taken ?? []), ...this.open];
      this.settleRest();
      throw error;
    }
  }

  /** Keeps recorded messages for the next attempt of their iteration: theirs has ended meanwhile. */
  keep(recorded: readonly SentMessage[]): void {
    this.added = [...this.added, ...recorded];
    this.settleRest();
  }

  /**
   * Adds messages to the transcript of a request, after all results. Messages of an earlier attempt,
   * whose request was dropped, are added again: a retry or a repeated turn builds its requests from
   * the beginning.
   */
  addTo(request: ChatClientRequest, next: readonly SentMessage[]): ChatClientRequest {
    if (this.interruption.cancelled) this.interruption = new Cancellation();
    const { iteration } = request;
    const dropped = this.added.filter((sent) => sent.iteration >= iteration);
    if (next.length + dropped.length === 0) return request;
    this.added = [...this.added, ...next];
    for (const sent of [...dropped, ...next]) sent.iteration = iteration;
    const messages = [...dropped, ...next].map(({ message }) => message);
    return request.withTranscript((before) => [...before, ...messages]);
  }

  /** Reports the messages as delivered: a model has answered to them. */
  confirm(): void {
    for (const sent of this.added)
      if (!sent.isSettled) sent.settle({ status: 'delivered', iteration: sent.iteration });
  }

  /** Ends the turn: its answer has come without the messages that are left. */
  endAnswered(): void {
    this.endBy((sent) => this.defer(sent));
  }

  /** Ends the turn, which has failed. A message belongs to it if it has its step when it runs again. */
  endFailed(error: unknown, recorder: RunRecorder): void {
    const isPaused = hasCode(error, 'turn_paused');
    this.endBy((sent) => {
      const { step, iteration, mode } = sent;
      if (step !== undefined && recorder.keepsStep(step, error))
        sent.settle({ status: 'delivered', iteration });
      else if (isPaused || mode === 'queue') this.defer(sent);
      else sent.settle({ status: 'rejected' });
    });
  }

  private endBy(end: (sent: SentMessage) => void): void {
    this.inbox.close(this);
    this.end = end;
    this.settleRest();
  }

  /** Settles the messages that are left; of one whose step is being recorded, when that has ended. */
  private settleRest(): void {
    const { end } = this;
    if (!end) return;
    const rest = [...this.added, ...this.open].filter(({ isSettled }) => !isSettled);
    this.open = [];
    // a retried turn keeps delivered messages only
    this.added = this.added.filter((sent) => !rest.includes(sent));
    rest.forEach(end);
  }

  private defer(sent: SentMessage): void {
    if (!sent.isReplayed) this.inbox.defer(sent); // its inbox was another one
  }
}

const isForTurn = ({ mode }: SentMessage): boolean => mode !== 'queue';
