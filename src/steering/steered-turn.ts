import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { UserMessage } from '../chat/message.js';
import { Cancellation } from '../internal/cancellation.js';
import type { SteeringInbox, SteeringMode, SteeringOutcome } from './steering-inbox.js';

/** A message on its way. */
export class SentMessage {
  readonly outcome: Promise<SteeringOutcome>;
  /** The first iteration whose request has it, in the latest run of the loop. */
  iteration = Infinity;
  isSettled = false;
  private resolve!: (outcome: SteeringOutcome) => void;

  constructor(
    readonly message: UserMessage,
    readonly mode: SteeringMode,
  ) {
    this.outcome = new Promise((resolve) => (this.resolve = resolve));
  }

  /** Only the first outcome counts. */
  settle(outcome: SteeringOutcome): void {
    this.isSettled = true;
    this.resolve(outcome);
  }
}

/** The messages of one turn, and what has become of them. */
export class SteeredTurn {
  /** Messages that no request has yet, and those of the queue. */
  private open: readonly SentMessage[] = [];
  private added: readonly SentMessage[] = [];
  /** Cancels what runs when a message interrupts; another one for each model call. */
  interruption = new Cancellation();

  constructor(readonly inbox: SteeringInbox) {}

  /** @throws {@link InvalidArgumentError} if the inbox belongs to another turn */
  begin(): void {
    this.inbox.open(this);
  }

  add(sent: SentMessage): void {
    this.open = [...this.open, sent];
    if (sent.mode === 'interrupt') this.interruption.cancel();
  }

  /** True if a message waits for the next model call. */
  get hasNext(): boolean {
    return this.open.some(isForTurn);
  }

  /**
   * Adds the messages that wait to the transcript of a request, after all results. Those of an
   * earlier attempt, whose request was dropped, are added again: a retry or a repeated turn builds
   * its requests from the beginning.
   */
  addTo(request: ChatClientRequest): ChatClientRequest {
    if (this.interruption.cancelled) this.interruption = new Cancellation();
    const { iteration } = request;
    const next = this.open.filter(isForTurn);
    const dropped = this.added.filter((sent) => sent.iteration >= iteration);
    if (next.length + dropped.length === 0) return request;
    this.open = this.open.filter((sent) => !isForTurn(sent));
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

  /** Ends the turn: its answer, or its error, has come without these messages. */
  end(hasAnswered: boolean): void {
    this.inbox.close();
    const rest = [...this.added, ...this.open].filter(({ isSettled }) => !isSettled);
    this.open = [];
    // a turn that another advisor repeats has only the messages whose outcome is that they are in it
    this.added = this.added.filter((sent) => !rest.includes(sent));
    for (const sent of rest)
      if (hasAnswered || sent.mode === 'queue') this.inbox.defer(sent);
      else sent.settle({ status: 'rejected' });
  }
}

const isForTurn = ({ mode }: SentMessage): boolean => mode !== 'queue';
