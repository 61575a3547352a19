import type { UserMessage } from '../../core/chat/message.js';
import type { Decision, PendingRequest } from '../../core/chat/paused-turn.js';
import { jsonData } from '../../core/internal/json-data.js';
import {
  checkOptions,
  integer,
  isPlainObject,
  rule,
  TEXT,
  type JsonObject,
} from '../../core/internal/options.js';
import { invalidInput } from '../http/request-input.js';
import { outputDecision } from '../http/tool-output.js';
import { decisionOf, type Answer } from './interrupts.js';
import { outputOf, toolMessages } from './tool-outputs.js';
import { userMessage, type MessageLimits } from './user-message.js';

/** Options of {@link fromRunInput}. */
export interface RunInputOptions {
  /** The person, from your session: `by` of the decisions. @default none */
  readonly by?: string | undefined;
  /** Most UTF-16 units of the text of a message, and of the JSON of an answer. @default 32_000 */
  readonly maxCharacters?: number | undefined;
  /** Media types that a message may have, such as `image/png`; content only, no addresses. @default none */
  readonly mediaTypes?: readonly string[] | undefined;
  /** Most bytes of the media of a message. @default 5_000_000 */
  readonly maxMediaBytes?: number | undefined;
}

/** The part of a body that counts. It has a message or decisions. */
export interface RunInput {
  /** The client's id of the conversation. Any client can send any: make it yours with the user's id. */
  readonly threadId: string;
  readonly runId: string;
  /** The new message of the user; undefined in a request that answers. */
  readonly message?: UserMessage;
  /**
   * Set in a request that answers interrupts, or has results of tools that the client runs: the second
   * argument of `client.resume`.
   */
  readonly decisions?: (request: PendingRequest) => Decision | undefined;
  /** The paused turn, if the client has sent the metadata of its interrupts, or of the run, back. */
  readonly turn?: string;
}

const RULES = {
  by: TEXT,
  maxCharacters: integer(1),
  mediaTypes: rule(
    'an array of texts',
    (types) => Array.isArray(types) && types.every((type) => typeof type === 'string'),
  ),
  maxMediaBytes: integer(0),
};
const MAX_ID = 256;
const MAX_TURN = 2_000_000;
const MAX_ANSWERS = 100;
/** Control characters break lines of logs. */
const SAFE_ID = /^[^\p{Cc}\p{Cs}]+$/u;

/**
 * Reads the body of a request of AG-UI, a `RunAgentInput`. A browser is not trusted: only the last
 * message counts, if it is of the user, or the answers to interrupts and to open calls of tools that the
 * client runs. Older messages, system messages, answers, other tool results, tools, context and state of
 * the body are not read.
 *
 * @param body the parsed JSON
 * @throws InvalidArgumentError if it is not one, or exceeds a limit: `toHttpError` answers by 400
 */
export function fromRunInput(body: unknown, options: RunInputOptions = {}): RunInput {
  checkOptions('fromRunInput', options, RULES);
  const { by, maxCharacters = 32_000, mediaTypes = [], maxMediaBytes = 5_000_000 } = options;
  const limits = { maxCharacters, mediaTypes, maxMediaBytes };
  if (!isPlainObject(body)) throw invalidInput('The body must be a RunAgentInput, an object.');
  const threadId = idOf(body, 'threadId');
  const runId = idOf(body, 'runId');
  const { messages, resume } = body;
  if (!Array.isArray(messages)) throw invalidInput('messages must be an array.');
  const last: unknown = messages.at(-1);
  const isAnswered = resume !== undefined && !(Array.isArray(resume) && resume.length === 0);
  if (!isAnswered && !(isPlainObject(last) && last['role'] === 'tool'))
    return { threadId, runId, message: lastMessage(messages, limits) };
  const { answers, turn = turnOf(last) } = answersOf(resume ?? [], maxCharacters);
  const outputs = toolMessages(messages);
  return {
    threadId,
    runId,
    decisions: (request) => {
      if (request.type === 'client-tool') {
        const sent = outputs.get(request.callId);
        return sent && outputDecision(outputOf(sent, request), maxCharacters, by);
      }
      const answer = answers.get(request.id);
      return answer && decisionOf(request, answer, by);
    },
    ...(turn !== undefined && { turn }),
  };
}

function idOf(object: JsonObject, name: string, max = MAX_ID): string {
  const id = object[name];
  if (typeof id === 'string' && id.length <= max && id.trim() !== '' && SAFE_ID.test(id)) return id;
  throw invalidInput(
    `${name} must be a text of 1 to ${max} characters, not blank and without control characters.`,
  );
}

function lastMessage(messages: readonly unknown[], limits: MessageLimits): UserMessage {
  const message = messages.at(-1);
  if (isPlainObject(message) && message['role'] === 'user') return userMessage(message, limits);
  throw invalidInput(
    'The last message must be of the user, or the result of a tool, unless resume answers interrupts.',
  );
}

function answersOf(
  resume: unknown,
  maxCharacters: number,
): { readonly answers: ReadonlyMap<string, Answer>; readonly turn?: string | undefined } {
  if (!Array.isArray(resume) || resume.length > MAX_ANSWERS)
    throw invalidInput(`resume must be an array of at most ${MAX_ANSWERS} answers.`);
  const answers = new Map<string, Answer>();
  const turns = new Set<string>();
  for (const entry of resume as readonly unknown[]) {
    if (!isPlainObject(entry)) throw invalidInput('An answer in resume must be an object.');
    const id = idOf(entry, 'interruptId');
    if (answers.has(id)) throw invalidInput('resume answers an interrupt twice.');
    answers.set(id, answerOf(entry, maxCharacters));
    const turn = turnOf(entry);
    if (turn !== undefined) turns.add(turn);
  }
  if (turns.size > 1) throw invalidInput('resume answers interrupts of several turns.');
  return { answers, turn: [...turns][0] };
}

/** The turn in the metadata of an answer. */
function turnOf(answer: unknown): string | undefined {
  const metadata = isPlainObject(answer) ? answer['metadata'] : undefined;
  if (!isPlainObject(metadata) || metadata['turn'] === undefined) return undefined;
  return idOf(metadata, 'turn', MAX_TURN);
}

function answerOf({ status, payload }: JsonObject, maxCharacters: number): Answer {
  if (status !== 'resolved' && status !== 'cancelled')
    throw invalidInput("The status of an answer must be 'resolved' or 'cancelled'.");
  const data = payload === undefined ? null : jsonData(payload);
  if (data === undefined) throw invalidInput('The payload of an answer must be JSON.');
  if (JSON.stringify(data).length > maxCharacters)
    throw invalidInput(`The payload of an answer is longer than ${maxCharacters} characters.`);
  return { status, payload: data };
}
