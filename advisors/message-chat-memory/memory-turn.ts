import type { Next } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { sentRequest } from '../../src/core/advisor/run-tools.js';
import { answerMessages } from '../../src/core/chat/answer-messages.js';
import { isStopped } from '../../src/core/chat/chat-response.js';
import { ContextKey, RunSlot } from '../../src/core/chat/context.js';
import { withModelCalls } from '../../src/core/chat/ledger-codec.js';
import type { Message } from '../../src/core/chat/message.js';
import { encodeMessage } from '../../src/core/chat/message-codec.js';
import { modelCallError, type RunRecord } from '../../src/core/chat/run-record.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import type { MemoryWriteError } from '../../src/core/errors/errors.js';
import { withSignalOf } from '../../src/core/internal/cancellation.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { notify } from '../../src/core/internal/notify.js';
import type { MemorySnapshot } from '../../src/stores/chat-memory/chat-memory.js';
import { repairHistory, withHistory } from '../../src/stores/chat-memory/history.js';
import { toReadError, toWriteError } from '../../src/stores/chat-memory/write-outcome.js';
import { MEMORY_READ, MEMORY_WRITE } from './memory-steps.js';
import type { MessageChatMemoryAdvisorOptions } from './message-chat-memory-advisor.js';
import { newMessagesOf, storedTurnId, withoutCalls } from './question.js';
import {
  PartialText,
  partialTurn,
  stoppedMessages,
  turnMessages,
  type PartialTurn,
} from './turn-messages.js';

/** The part of a turn that is stored: with it, the place in the turn of the next write. */
interface StoredPart {
  readonly turnId: string;
  /** Version of its last message; 0 if there is none. */
  readonly version: number;
  readonly messages: readonly Message[];
}

/** Inside the tool loop: the part that the iterations before have stored. */
const STORED_PART = new ContextKey<StoredPart | undefined>('advisor-chain.chat_memory_stored');

/** Numbers of answers that a run has stored, by conversation. */
const ENDS = new RunSlot<Map<string, number>>();

/** One run of the memory advisor: a turn, or inside the tool loop an iteration. */
export class MemoryTurn {
  private readonly before: StoredPart;
  private readonly isContinued: boolean;
  /** New messages of the request, with tool calls that it brings and their results. */
  private added: readonly Message[] = [];
  private readonly partial = new PartialText();

  constructor(
    private readonly options: MessageChatMemoryAdvisorOptions,
    private readonly request: ChatClientRequest,
    private readonly conversationId: string,
    private readonly isInside: boolean,
  ) {
    const before = isInside ? request.context.get(STORED_PART) : undefined;
    this.isContinued = before !== undefined;
    this.before = before ?? { turnId: this.turnId(), version: 0, messages: [] };
  }

  async run(next: Next): Promise<ChatClientResponse> {
    const { request, options } = this;
    const { version, messages } = await this.loadSnapshot();
    const prompt = withHistory(messages, request.prompt.messages);
    const sent = options.repairHistory === false ? prompt : repairHistory(prompt);
    // a later iteration has the calls of the ones before
    const known = this.isContinued ? request.prompt.messages : messages;
    this.added = newMessagesOf(request.prompt.messages, known, sent);
    let response: ChatClientResponse;
    try {
      const onEvent = options.onIncomplete === 'keep-partial' ? this.partial.record : undefined;
      response = await next(request.withMessages(sent), onEvent);
    } catch (error) {
      await this.storePartialTurn(error);
      throw error;
    }
    const stored = await this.storeTurn(this.turnOf(response, sent), response, version);
    return this.isInside ? response.withContext(STORED_PART, stored) : response;
  }

  /**
   * The id under which the turn is stored. Another answer of the same run is another turn: an advisor
   * has asked again, maybe something else.
   */
  private turnId(): string {
    const { turnId, prompt, run } = this.request;
    const number = (ENDS.get(run)?.get(this.conversationId) ?? 0) + 1;
    return storedTurnId(turnId, prompt.messages, number);
  }

  private async loadSnapshot(): Promise<MemorySnapshot> {
    const { run } = this.request;
    try {
      const wait = withSignalOf({}, this.request);
      return await run.recorder.step(
        'memory read',
        () => this.options.chatMemory.load(this.conversationId, this.before, wait),
        withModelCalls(run, MEMORY_READ),
      );
    } catch (cause) {
      throw toReadError(cause, this.conversationId);
    }
  }

  /** The messages of an answered turn. */
  private turnOf(response: ChatClientResponse, sent: readonly Message[]): readonly Message[] {
    const { isInside, request } = this;
    const { chatMemory, storeToolMessages } = this.options;
    // a later request continues a turn with open calls, or a stopped one, and has to see all of it
    const isOpen =
      (response.hasToolCalls() || isStopped(response)) &&
      chatMemory.capabilities.storesToolMessages;
    const withTools = !isInside && (storeToolMessages === true || isOpen);
    const added = this.withoutKnown(sentRequest(request, response.context).added);
    const between = turnMessages(request.run, sent, added, withTools);
    return [
      ...this.question(withTools),
      ...between,
      ...(isStopped(response)
        ? stoppedMessages(request.run, isOpen)
        : answerMessages(response, isInside || isOpen)),
    ];
  }

  private question(withTools: boolean | undefined): readonly Message[] {
    return withTools || this.isInside ? this.added : withoutCalls(this.added);
  }

  /** The added messages that the request of this advisor did not have. */
  private withoutKnown(added: readonly Message[]): readonly Message[] {
    return added.filter((message) => !this.request.added.includes(message));
  }

  /** @returns the stored part of the turn with these messages */
  private async storeTurn(
    turn: readonly Message[],
    response?: ChatClientResponse,
    version?: number,
  ): Promise<StoredPart> {
    const { conversationId, before } = this;
    const { turnId, run } = this.request;
    // the next turn goes to the first model again, which cannot read data of others
    const messages = run.authors.fitMessages(turn);
    try {
      const write = (): Promise<number> => this.write(messages, response, version);
      // a partial turn is no step: it would be replayed in place of the write of the answer
      const stored = response
        ? await run.recorder.step('memory write', write, withModelCalls(run, MEMORY_WRITE))
        : await write();
      run.stored.push({ conversationId, messages });
      if (response && this.isEnd(response)) this.countEnd();
      return { ...before, version: stored, messages: [...before.messages, ...messages] };
    } catch (error) {
      if (response && hasCode(error, 'cancelled')) throw error;
      throw toWriteError(error, conversationId, { turnId, response });
    }
  }

  private countEnd(): void {
    const { run } = this.request;
    const ends = ENDS.get(run) ?? ENDS.set(run, new Map<string, number>());
    ends.set(this.conversationId, (ends.get(this.conversationId) ?? 0) + 1);
  }

  /** Writes at this place of the turn, in place of what an earlier attempt has stored from there on. */
  private async write(
    messages: readonly Message[],
    response: ChatClientResponse | undefined,
    version: number | undefined,
  ): Promise<number> {
    const { conversationId, before } = this;
    const { chatMemory, onConflict, onIncomplete } = this.options;
    const { turnId } = before;
    const options = withSignalOf(
      {
        turnId,
        writeId: response && this.writeId(response, messages, version),
        supersedesAfter: before.version,
        expectedVersion: onConflict === 'fail' ? version : undefined,
        outlivesAbort: onIncomplete === 'keep-partial',
      },
      this.request,
    );
    try {
      return await chatMemory.add(conversationId, [...messages], options);
    } catch (error) {
      if (before.version === 0 || !hasCode(error, 'memory_conflict')) throw error;
      // the messages before are gone: another attempt, or a new summary, has replaced them
      const whole = { ...options, supersedesAfter: 0 };
      return chatMemory.add(conversationId, [...before.messages, ...messages], whole);
    }
  }

  /**
   * The id of a write. The id of the turn ends the turn. Another write has an id if its turn is recorded: its
   * step may run again after it was made, with what was read before. An attempt reads again.
   */
  private writeId(
    response: ChatClientResponse,
    messages: readonly Message[],
    version: number | undefined,
  ): string | undefined {
    const { turnId, version: place } = this.before;
    if (this.isEnd(response)) return turnId;
    if (!this.request.run.recorder.isRecording) return undefined;
    return sha256Hex(JSON.stringify([turnId, place, version, messages.map(encodeMessage)]));
  }

  /** True if the turn has no further iteration. */
  private isEnd(response: Pick<ChatClientResponse, 'hasToolCalls'>): boolean {
    return !this.isInside || !response.hasToolCalls();
  }

  /** Reports its own failure to `onWriteError`: the caller gets the error that ended the turn. */
  private async storePartialTurn(reason: unknown): Promise<void> {
    const { onIncomplete, storeToolMessages, onWriteError } = this.options;
    const { run } = this.request;
    if (onIncomplete !== 'keep-partial' || isContinuedElsewhere(reason, run)) return;
    const parts: PartialTurn = {
      question: this.question(storeToolMessages),
      added: this.withoutKnown(run.added),
      text: this.partial.text || modelCallError(reason)?.partialText || '',
      steps: this.isInside ? [] : run.steps,
      transcript: run.transcript,
    };
    const turn = partialTurn(parts, storeToolMessages === true);
    try {
      if (turn.length > 0) await this.storeTurn(turn);
    } catch (error) {
      notify(() => onWriteError?.(error as MemoryWriteError));
    }
  }
}

/** A turn that is cancelled may be continued elsewhere, too: then its end replaces the partial one. */
function isContinuedElsewhere(reason: unknown, { recorder }: RunRecord): boolean {
  return !hasCode(reason, 'cancelled') && (recorder.isLost || hasCode(reason, 'turn_paused'));
}
