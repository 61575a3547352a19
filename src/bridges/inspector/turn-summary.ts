import { CONVERSATION_ID } from '../../core/chat/context.js';
import type { Usage } from '../../core/chat/chat-response.js';
import { textOf } from '../../core/chat/message.js';
import { codeOf, messageOf } from '../../core/errors/error-type.js';
import { truncate } from '../../core/internal/text.js';
import type { InspectedError, InspectedTurn, TurnSummary } from './inspected-turn.js';
import type { RecordedTurn } from './recorded-turn.js';
import type { Redactor } from './redactor.js';

/** Characters of the question and the answer in the list of turns. */
const MAX_SHOWN = 200;
/** Characters of a text that are searched for secrets before it is cut. */
const MAX_SEARCHED = 4_000;

/** A turn as a row of the list. */
export function summaryOf(turn: RecordedTurn, redactor: Redactor): TurnSummary {
  const { origin, duration, firstToken, model, usage } = turn;
  const { id, source, request } = origin;
  const conversationId = request.context.get(CONVERSATION_ID);
  const { cost } = request.run;
  const error = turn.error === undefined ? undefined : errorOf(turn.error, turn, redactor);
  return {
    id,
    turnId: redactor.text(request.turnId),
    ...(conversationId !== undefined && { conversationId: redactor.text(String(conversationId)) }),
    source,
    mode: request.mode,
    startedAt: turn.startedAt,
    ...(duration !== undefined && { duration }),
    outcome: turn.outcome,
    ...(turn.waiting.length > 0 && { isWaiting: true }),
    question: shortText(questionOf(turn), redactor),
    answer: shortText(answerOf(turn), redactor),
    ...(error && { error }),
    ...(model !== undefined && { model: redactor.text(model) }),
    iterations: turn.iterations,
    toolCalls: turn.toolCalls,
    ...(usage && { usage: usageOf(usage, redactor) }),
    ...(cost !== undefined && { cost }),
    ...(firstToken !== undefined && { firstToken }),
    revision: turn.revision,
  };
}

const SUMMARY_FIELDS = [
  'id',
  'turnId',
  'conversationId',
  'source',
  'mode',
  'startedAt',
  'duration',
  'outcome',
  'isWaiting',
  'question',
  'answer',
  'error',
  'model',
  'iterations',
  'toolCalls',
  'usage',
  'cost',
  'firstToken',
  'revision',
] as const satisfies readonly (keyof TurnSummary)[];

/** The row of the list of a turn that is written already. */
export function summaryFields(turn: InspectedTurn): TurnSummary {
  const fields = SUMMARY_FIELDS.filter((name) => turn[name] !== undefined);
  return Object.fromEntries(fields.map((name) => [name, turn[name]])) as unknown as TurnSummary;
}

/** The question of a turn. */
export function questionOf({ origin }: RecordedTurn): string {
  return textOf(origin.request.prompt.userMessage?.content ?? null);
}

/** The answer of a turn, so far. */
export function answerOf({ response, text }: RecordedTurn): string {
  return response?.text ?? text;
}

/** An error, with the advisor that it came from. */
export function errorOf(error: unknown, turn: RecordedTurn, redactor: Redactor): InspectedError {
  const [code, advisor] = [codeOf(error), turn.sources.get(error)];
  return {
    name: redactor.text(nameOf(error)),
    message: redactor.text(messageOf(error)),
    ...(code !== undefined && { code }),
    ...(advisor !== undefined && { advisor }),
  };
}

/** The numbers of a usage, which the page calculates with: models of applications may break its types. */
export function usageOf(usage: Usage, redactor: Redactor): Usage {
  const fields = Object.entries(redactor.json(usage) ?? {});
  const numbers = fields.filter(([, value]) => typeof value === 'number');
  return { inputTokens: 0, outputTokens: 0, totalTokens: 0, ...Object.fromEntries(numbers) };
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name) : typeof error;
  } catch {
    return 'Error'; // a getter or a proxy threw
  }
}

function shortText(text: string, redactor: Redactor): string {
  const shown = redactor.text(truncate(text, MAX_SEARCHED));
  return shown.length > MAX_SHOWN ? `${truncate(shown, MAX_SHOWN - 1)}…` : shown;
}
