import type { ChatModel } from '../../core/chat/chat-model.js';
import type { Message } from '../../core/chat/message.js';
import { modelCallError, RunRecord } from '../../core/chat/run-record.js';
import { ModelTimeoutError } from '../../core/errors/errors.js';
import { Cancellation, cancelledError, onAbort } from '../../core/internal/cancellation.js';
import { inTime } from '../../core/internal/in-time.js';
import { summarize, summarizeInParts } from '../../core/observation/summarize.js';
import type { StoredMessage } from './chat-memory-repository.js';
import { firstPiece, type Piece } from './summary-message.js';

/** Characters of the messages in a request: with the summary so far and the instructions 32,000. */
const MAX_LENGTH = 24_000;
/** Length of requests that are not halved any more. */
const MIN_LENGTH = 1_000;
/** Characters of a request per word of its summary. */
const CHARACTERS_PER_WORD = 32;

/** Settings of the requests for summaries of a conversation. */
export interface SummaryRequestSettings {
  readonly model: ChatModel;
  /** Milliseconds for each request. */
  readonly timeout: number;
  /** Signal of the run whose turn was stored. */
  readonly signal: AbortSignal | undefined;
}

/** A summary of the first messages. */
export interface WrittenSummary extends Omit<Piece, 'lines'> {
  readonly text: string;
}

/** Requests for the summaries of a conversation, which fit into the context of the model. */
export class SummaryRequests {
  private maxLength = MAX_LENGTH;

  constructor(private readonly settings: SummaryRequestSettings) {}

  /**
   * Summarizes the first messages as far as they fit into a request, together with the summary of
   * earlier ones. A piece that exceeds the context of the model is halved.
   * @param old messages of old turns, turn by turn
   * @param stored all messages that are not summarized
   * @returns undefined if there are none that a summary can cover
   * @throws the error of the model, {@link ModelTimeoutError}, {@link CancelledError} if the run ends
   */
  async summarizeFirst(
    old: readonly Message[],
    stored: readonly StoredMessage[],
    earlier: string | undefined,
  ): Promise<WrittenSummary | undefined> {
    for (;;) {
      const { maxLength } = this;
      const piece = firstPiece(old, stored, maxLength);
      if (!piece) return undefined;
      try {
        const { lines, ...covered } = piece;
        return {
          ...covered,
          text: await summarizeInParts(lines, { earlier, maxLength }, this.ask),
        };
      } catch (error) {
        if (!modelCallError(error)?.contextOverflow || maxLength <= MIN_LENGTH) throw error;
        this.maxLength = Math.floor(maxLength / 2);
      }
    }
  }

  /** Asks within the time, also a model that ignores its signal. */
  private readonly ask = async (
    lines: readonly string[],
    earlier: string | undefined,
  ): Promise<string> => {
    const { model, timeout, signal } = this.settings;
    const run = RunRecord.of(signal);
    const ending = new Cancellation(undefined, run);
    const cancel = (): void => {
      // a caller that has its answer leaves the run: this is no cancellation
      if (!run?.answer) ending.cancel(signal?.reason);
    };
    const release = signal && onAbort(signal, cancel);
    if (ending.cancelled) throw cancelledError(signal?.reason);
    const maxWords = Math.ceil(this.maxLength / CHARACTERS_PER_WORD);
    const work = (own: AbortSignal): Promise<string> =>
      summarize(model, lines, { earlier, maxWords, signal: own });
    try {
      return await inTime(work, timeout, timedOut(timeout), ending.signal);
    } finally {
      release?.();
    }
  };
}

function timedOut(timeout: number): ModelTimeoutError {
  return new ModelTimeoutError(
    `The summary did not arrive within ${timeout} ms (option summaryTimeout).`,
    { retryable: true, option: 'summaryTimeout' },
  );
}
