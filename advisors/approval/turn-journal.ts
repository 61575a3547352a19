import type { ChatResponse } from '../../src/core/chat/chat-response.js';
import { callsOf, type ToolCall } from '../../src/core/chat/message.js';
import { decodeResponse } from '../../src/core/chat/response-codec.js';
import { AdvisorChainError, hasCode } from '../../src/core/errors/advisor-chain-error.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { isPlainObject } from '../../src/core/internal/options.js';
import type { DecidedRequest } from './turn-state.js';
import { InMemoryDurableEngine, type DurableEntries } from '../../src/engines/in-memory-engine.js';

type Entry = DurableEntries[number];

/** Steps of the attempts to get an answer: also those that agents make. */
const isAttempt = ([name]: Entry): boolean =>
  /(^|\/)(model|rate limit|wait|steering) \d/.test(name);
/** A decision of a stop condition about an answer. */
const isStop = ([name]: Entry): boolean => /(^|\/)stop \d/.test(name);
const isModel = ([name]: Entry): boolean => /(^|\/)model \d/.test(name);
/** A step of an agent, or one with an effect, which must have its reason in the turn. */
const hasEffect = ([name]: Entry): boolean => /\/|^(tool|decision|memory write)\b/.test(name);
/** A step that has taken messages of the user: what came before it has led to its place. */
const hasMessages = ([name, value]: Entry): boolean =>
  name.startsWith('steering ') && Array.isArray(value) && value.length > 0;

/** The answer that a model step has recorded; undefined if the call has failed. */
function answerIn([, value]: Entry): ChatResponse | undefined {
  const response = isPlainObject(value) ? value['response'] : undefined;
  return response === undefined ? undefined : decodeResponse(response as JsonValue);
}

/** Codes of errors of this library that are about an answer; an error of the application may be. */
const OF_ANSWERS = ['structured_output', 'guard', 'json', 'incomplete_response'];

/** True for an error that recorded answers bring about again. */
function isOfAnswer(error: unknown): boolean {
  return hasCode(error, ...OF_ANSWERS) || !AdvisorChainError.isInstance(error);
}

/** The steps of a turn that can pause, in memory: they become a part of its state. */
export class TurnJournal extends InMemoryDurableEngine {
  /** A turn is resumed days later, with a newer deployment, also if a text for the model has changed. */
  readonly keepsAnswers = true;

  /**
   * The steps without those that have led to the failure of the turn, so that a model is asked again:
   * model calls without an answer, or, if none has failed, the last answers if the error is about
   * them. An answer stays whose calls have run, or are decided; what a tool has done is never undone.
   * A cancelled turn keeps its messages.
   */
  entriesBeforeFailure(error: unknown, decided: readonly DecidedRequest[]): DurableEntries {
    const entries = this.entries();
    const answered = entries.findLastIndex((entry) => isModel(entry) && answerIn(entry));
    const steered = hasCode(error, 'cancelled') ? entries.findLastIndex(hasMessages) : -1;
    const last = Math.max(answered, steered);
    const answers = entries.filter((entry, at) => at <= last || !isAttempt(entry));
    const hasFailed = entries.slice(last + 1).some(isModel);
    if (hasFailed || !isOfAnswer(error)) return answers;
    const begin = Math.max(lastAnswers(answers, decided), answers.findLastIndex(hasMessages) + 1);
    return answers.filter((entry, at) => at < begin || !(isAttempt(entry) || isStop(entry)));
  }

  /** True if a step is recorded. */
  has(name: string): boolean {
    return this.recorded(name) !== undefined;
  }

  /** The recorded end of a tool call; `isRepeated` if the next step of the call runs the tool again. */
  endOf(name: string): { readonly isRepeated: boolean } | undefined {
    const end = this.recorded(name);
    return end === undefined ? undefined : { isRepeated: isPlainObject(end) && runsAgain(end) };
  }

  override async step<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    try {
      return await super.step(name, run);
    } catch (error) {
      // a call that waits for a person has not begun: it runs from its beginning
      if (hasCode(error, 'turn_paused')) this.forget(`${name} begin`);
      throw error;
    }
  }
}

/** True for the end of a tool that has asked the user, or that a person lets run again. */
function runsAgain({ error, isRepeated }: Readonly<Record<string, unknown>>): boolean {
  return isRepeated === true || (isPlainObject(error) && error['code'] === 'tool_question');
}

/** The index of the first of the last answers, on which nothing has been done or decided yet. */
function lastAnswers(entries: DurableEntries, decided: readonly DecidedRequest[]): number {
  const isDecided = ({ name, arguments: text }: ToolCall): boolean =>
    decided.some(
      ({ request }) =>
        request.toolName === name &&
        (!('argumentsText' in request) || request.argumentsText === text),
    );
  const hasActed = (entry: Entry): boolean => {
    const answer = isModel(entry) && answerIn(entry);
    return hasEffect(entry) || (answer && callsOf(answer.message).some(isDecided)) === true;
  };
  return entries.findLastIndex(hasActed) + 1;
}
