import { callsOf } from '../../../src/core/chat/message.js';
import { textOf, type Message } from '../../../src/index.js';
import { problemsOfInspection } from '../inspector-laws.js';
import { steeredText, type Conversation, type TurnShown } from './conversation.js';
import { isWellFormed } from './wire-requests.js';

/** Problems that a conversation shows. */
export async function problemsOf(conversation: Conversation): Promise<readonly string[]> {
  const { hostile, shown, inspector, plan, logged } = conversation;
  const log = await conversation.log();
  const found = [
    ...new Set(hostile.refusals.map((reason) => `a request is refused: ${reason}`)),
    ...shown.map(failureOf),
    ...stored(conversation, log),
    ...results(log),
    isWellFormed(log.map((each) => JSON.stringify(each))) && isWellFormed(log)
      ? undefined
      : 'the log has half a surrogate pair',
    ...(await problemsOfInspection(inspector, plan.inspection)),
    ...logged.problems,
  ];
  return found.filter((each) => each !== undefined);
}

/** A turn that nothing disturbs must succeed. */
function failureOf({ number, script, error }: TurnShown): string | undefined {
  const isDisturbed = ['fails', 'cancelled', 'left'].includes(script.end);
  return error === undefined || isDisturbed ? undefined : `turn ${number} fails: ${error}`;
}

const ofUser = (message: Message): string =>
  message.role === 'user' ? textOf(message.content) : '';

/** The log has what users wrote and saw, complete, once and in order. */
function stored({ plan, shown }: Conversation, log: readonly Message[]) {
  const texts = log.map(ofUser).filter((text) => text !== '');
  const count = (number: number): number => texts.filter((text) => isQuestion(text, number)).length;
  const problems = shown.map((turn) => {
    const times = count(turn.number);
    if (times > 1) return `question ${turn.number} is stored ${times} times`;
    if (times === 0 && mustBeStored(turn, plan.keepsPartial))
      return `question ${turn.number} is not stored`;
    return answerOf(turn, log);
  });
  const foreign = texts.filter((text) => !/^[QS]\d/.test(text));
  const steered = shown
    .filter(({ isSteered, answer }) => isSteered && answer !== undefined)
    .filter(({ number }) => texts.filter((text) => text === steeredText(number)).length !== 1);
  return [
    ...problems,
    ...foreign.map((text) => `no user has written: ${text.slice(0, 60)}`),
    ...steered.map(({ number }) => `the message sent in turn ${number} is not stored once`),
    order(
      shown.filter(({ script }) => !(plan.isMemoryInside && script.end === 'overtaken')),
      texts,
    ),
  ];
}

const isQuestion = (text: string, number: number): boolean =>
  /^Q(\d+)/.exec(text)?.[1] === `${number}`;

function mustBeStored(
  { answer, text, isPaused, script }: TurnShown,
  keepsPartial: boolean,
): boolean {
  if (answer !== undefined) return true;
  const isOver = script.end !== 'abandoned' && !isPaused;
  return keepsPartial && isOver && text.trim() !== '';
}

/** The answer that the user saw, after its question. */
function answerOf({ number, answer }: TurnShown, log: readonly Message[]): string | undefined {
  if (answer === undefined || answer.trim() === '') return undefined;
  const found = log.filter((each) => each.role === 'assistant' && each.content === answer);
  if (found.length === 0) return `the answer of turn ${number} is not stored`;
  const at = log.findIndex((each) => isQuestion(ofUser(each), number));
  return log.lastIndexOf(found[0] as Message) > at
    ? undefined
    : `the answer of turn ${number} is before it`;
}

function order(shown: readonly TurnShown[], texts: readonly string[]): string | undefined {
  const answered = shown
    .filter(({ answer }) => answer !== undefined)
    .toSorted((a, b) => a.endedAt - b.endedAt);
  const places = answered.map(({ number }) => texts.findIndex((text) => isQuestion(text, number)));
  const sorted = places.toSorted((a, b) => a - b);
  return places.join() === sorted.join()
    ? undefined
    : `the questions are stored in the order ${places.join()}`;
}

/** Each stored result belongs to the call with its arguments. */
function results(log: readonly Message[]): readonly string[] {
  let calls: readonly { readonly id: string; readonly arguments: string }[] = [];
  return log.flatMap((message) => {
    if (message.role === 'assistant' && callsOf(message).length > 0)
      calls = [...callsOf(message), ...calls];
    if (message.role !== 'tool') return [];
    const [token] = /#[\d.]+#/.exec(textOf(message.content)) ?? [];
    const call = calls.find(({ id }) => id === message.toolCallId);
    if (!call) return [`a stored result has no call before it: ${message.toolCallId.slice(0, 40)}`];
    return token === undefined || call.arguments.includes(token)
      ? []
      : [`the result ${token} is stored under ${call.arguments}`];
  });
}
