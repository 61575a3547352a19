import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { Message, UserMessage } from '../../core/chat/message.js';
import { fromBase64Url, toBase64Url } from '../../core/internal/base64url.js';
import {
  CHECKED_APART,
  checkFields,
  checkOptions,
  ID,
  integer,
  isPlainObject,
  required,
  TEXT,
} from '../../core/internal/options.js';
import { checkSecrets, secretList, type Secret } from '../../core/internal/secrets.js';
import { TextCipher } from '../../core/internal/text-cipher.js';
import { eventsOf, type EventSource } from '../http/event-source.js';
import { invalidInput } from '../http/request-input.js';
import { fromUIMessages, type FromUIMessagesOptions, type UIInput } from './from-ui-messages.js';
import { decodeTurn, encodeTurn, SealedEvents, type SealedTurn } from './sealed-turn.js';

/** Options of a {@link SealedHistory}. */
export interface SealedHistoryOptions {
  /**
   * Secrets of the encryption, at least 32 characters or bytes each: the first one encrypts, seals of the others are
   * accepted. Conversations end with their secret.
   */
  readonly secrets: Secret | readonly Secret[];
  /** Maximum number of characters of all seals in a body, >= 1_000. @default 2_000_000 */
  readonly maxSize?: number | undefined;
}

/** Options of {@link SealedHistory.fromUIMessages}. */
export interface SealedHistoryInputOptions extends FromUIMessagesOptions {
  /** Id of the conversation: a history of another one is refused. */
  readonly conversation: string;
  /** The person whose conversation it is, if the id is not of your session. @default none */
  readonly owner?: string | undefined;
}

/** A {@link UIInput} with the history that the page has kept. */
export interface SealedHistoryInput extends UIInput {
  /** The turns before the message, as this server has sealed them; without system messages. */
  readonly history: readonly Message[];
  /** The events of the turn with its seal: write these to the page. */
  readonly sealed: (stream: EventSource) => AsyncIterable<ChatEvent>;
}

/** The place to which a seal is bound. */
interface Place {
  readonly conversation: string;
  readonly owner: string | undefined;
  /** The seal of the turn before; empty for the first turn. */
  readonly before: string;
}

const WHERE = 'SealedHistory';
const PREFIX = 'history.1.';
const MAX_MESSAGES = 2_000;
const MAX_SIZE = 2_000_000;

/**
 * Histories that the page keeps, for servers without a chat memory. Each answer carries a seal, in the metadata of its
 * message: the messages of the turn, encrypted, and bound to the conversation, its owner and the seal before it.
 * The history that a page sends is read from its seals alone.
 */
export class SealedHistory {
  private readonly cipher: TextCipher;
  private readonly maxSize: number;

  /** @throws {@link InvalidArgumentError} if an option is invalid; never shows a secret */
  constructor(options: SealedHistoryOptions) {
    checkOptions(WHERE, options, { secrets: CHECKED_APART, maxSize: integer(1_000) });
    checkSecrets(options?.secrets, WHERE);
    const { secrets, maxSize = MAX_SIZE } = options;
    this.cipher = new TextCipher(secretList(secrets), 'advisor-chain history');
    this.maxSize = maxSize;
  }

  /**
   * Reads the body of `useChat`: its last message as {@link fromUIMessages} does, and its history from the seals.
   * Messages without a seal are left out, such as a turn that was stopped.
   * @throws {@link InvalidArgumentError} for an invalid body, a system message and a seal that does not belong here,
   * answered by 400; for invalid options
   */
  async fromUIMessages(
    body: unknown,
    options: SealedHistoryInputOptions,
  ): Promise<SealedHistoryInput> {
    const { conversation, owner, ...others } = options;
    checkFields(WHERE, { conversation, owner }, { conversation: required(ID), owner: TEXT });
    const input = fromUIMessages(body, others);
    const { messages } = body as { readonly messages: readonly unknown[] };
    const seals = this.sealsOf(input.message ? messages.slice(0, -1) : messages);
    const history: Message[] = [];
    let place: Place = { conversation, owner, before: '' };
    let last: SealedTurn | undefined;
    for (const seal of seals) {
      last = seal === undefined ? undefined : await this.open(seal, place);
      if (seal === undefined || !last || last.isOpen) continue;
      history.push(...last.messages);
      place = { ...place, before: seal };
    }
    const question = input.message ?? questionOf(last);
    const toSeal = (turn: SealedTurn): Promise<string> => this.seal(turn, place);
    return {
      ...input,
      history,
      sealed: (stream) => ({
        [Symbol.asyncIterator]: () => new SealedEvents(eventsOf(stream), question, toSeal),
      }),
    };
  }

  /** The seals of the answers, in order; undefined for an answer without one. */
  private sealsOf(messages: readonly unknown[]): readonly (string | undefined)[] {
    if (messages.length > MAX_MESSAGES)
      throw invalidInput(`The history has more than ${MAX_MESSAGES} messages.`);
    let size = 0;
    return messages.flatMap((message) => {
      const role = isPlainObject(message) ? message['role'] : undefined;
      if (role === 'user') return [];
      if (!isPlainObject(message) || role !== 'assistant')
        throw invalidInput('A history has messages of the user and answers alone.');
      const { metadata } = message;
      const seal = isPlainObject(metadata) ? metadata['seal'] : undefined;
      if (seal === undefined) return [seal];
      if (typeof seal !== 'string') throw notSealed();
      size += seal.length;
      if (size > this.maxSize)
        throw invalidInput(`The history has more than ${this.maxSize} characters.`);
      return [seal];
    });
  }

  private async seal(turn: SealedTurn, place: Place): Promise<string> {
    return PREFIX + toBase64Url(await this.cipher.encrypt(encodeTurn(turn), boundTo(place)));
  }

  private async open(seal: string, place: Place): Promise<SealedTurn> {
    const isSeal = seal.startsWith(PREFIX);
    const bytes = isSeal ? fromBase64Url(seal.slice(PREFIX.length)) : undefined;
    if (!bytes || bytes.length < TextCipher.MIN_LENGTH) throw notSealed();
    const text = await this.cipher.decrypt(bytes, boundTo(place));
    if (text === undefined) throw notSealed();
    return decodeTurn(text);
  }
}

/** Another order, a missing turn in between, or a turn of another conversation is bound to another text. */
function boundTo({ conversation, owner, before }: Place): string {
  return JSON.stringify([PREFIX, conversation, owner ?? null, before]);
}

/** The question of the turn that the last message of a page continues. */
function questionOf(last: SealedTurn | undefined): UserMessage {
  const question = last?.isOpen ? last.messages[0] : undefined;
  if (question?.role !== 'user')
    throw invalidInput('The last message has no seal of a turn that waits for decisions.');
  return question;
}

function notSealed(): Error {
  return invalidInput('The history has a seal that this server has not made for it.');
}
