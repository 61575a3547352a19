import { textOf } from '../../core/chat/message.js';
import { codeOf, messageOf } from '../../core/errors/error-type.js';
import { CONVERSATION_ID } from '../../core/chat/context.js';
import { isJsonText, parseWritten, type JsonValue } from '../../core/internal/json.js';
import { describeChain } from './chain-description.js';
import type {
  InspectedError,
  InspectedRequest,
  InspectedTurn,
  TimelineEntry,
  TurnSummary,
} from './inspected-turn.js';
import type { RecordedCall, RecordedEntry, RecordedTurn } from './recorded-turn.js';
import type { Redactor } from './redactor.js';
import type { RawRequest } from './request-difference.js';
import { RequestTrace } from './request-steps.js';

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
    question: shortText(questionOf(turn), redactor),
    answer: shortText(answerOf(turn), redactor),
    ...(error && { error }),
    ...(model !== undefined && { model: redactor.text(model) }),
    iterations: turn.iterations,
    toolCalls: turn.toolCalls,
    ...(usage && { usage }),
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

/** A turn as a whole. */
export function turnOf(turn: RecordedTurn, redactor: Redactor): InspectedTurn {
  const { request } = turn.origin;
  const { run, prompt, tools, model } = request;
  const reasoning = turn.response?.message.reasoning ?? turn.reasoning;
  const parts = { advisors: turn.origin.advisors, tools, options: prompt.options, model };
  return {
    ...summaryOf(turn, redactor),
    chain: describeChain(parts, redactor),
    timeline: turn.entries.map((entry) => entryOf(entry, turn, redactor)),
    requests: requestsOf(turn.calls, redactor),
    questionText: redactor.text(questionOf(turn)),
    answerText: redactor.text(answerOf(turn)),
    ...(reasoning && { reasoningText: redactor.text(reasoning) }),
    ledger: redactor.json(run.ledger) as unknown as InspectedTurn['ledger'],
    stored: redactor.json(run.stored) as unknown as InspectedTurn['stored'],
    pending: redactor.json(turn.paused?.requests ?? []) as unknown as InspectedTurn['pending'],
    isLive: true,
    isCut: turn.isCut,
  };
}

function questionOf({ origin }: RecordedTurn): string {
  return textOf(origin.request.prompt.userMessage?.content ?? null);
}

function answerOf({ response, text }: RecordedTurn): string {
  return response?.text ?? text;
}

function shortText(text: string, redactor: Redactor): string {
  const shown = redactor.text(text.slice(0, MAX_SEARCHED));
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN - 1)}…` : shown;
}

function entryOf(entry: RecordedEntry, turn: RecordedTurn, redactor: Redactor): TimelineEntry {
  const { error, detail, name, ...rest } = entry;
  return {
    ...rest,
    name: redactor.text(name),
    ...(error !== undefined && { error: errorOf(error, turn, redactor) }),
    ...(detail && { detail: detailOf(detail, redactor) }),
  };
}

/** JSON that a model has written is shown as data, if that changes nothing of it. */
function detailOf(detail: Readonly<Record<string, unknown>>, redactor: Redactor): JsonValue {
  const { arguments: written } = detail;
  if (typeof written !== 'string' || !isJsonText(written)) return redactor.json(detail);
  try {
    return redactor.json({ ...detail, arguments: parseWritten(written) });
  } catch {
    return redactor.json(detail);
  }
}

function errorOf(error: unknown, turn: RecordedTurn, redactor: Redactor): InspectedError {
  const [code, advisor] = [codeOf(error), turn.sources.get(error)];
  return {
    name: redactor.text(nameOf(error)),
    message: redactor.text(messageOf(error)),
    ...(code !== undefined && { code }),
    ...(advisor !== undefined && { advisor }),
  };
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name) : typeof error;
  } catch {
    return 'Error'; // a getter or a proxy threw
  }
}

function requestsOf(
  calls: readonly RecordedCall[],
  redactor: Redactor,
): readonly InspectedRequest[] {
  const trace = new RequestTrace();
  return calls.map(({ entry, attempt, call }) => {
    const { request, steps, sincePrevious } = trace.next(call);
    return {
      ...sentRequest(request, redactor),
      entry: entry.id,
      iteration: call.iteration ?? 0,
      attempt,
      steps: redactor.json(steps) as unknown as InspectedRequest['steps'],
      ...(sincePrevious && {
        sincePrevious: redactor.json(sincePrevious) as unknown as NonNullable<
          InspectedRequest['sincePrevious']
        >,
      }),
    };
  });
}

function sentRequest({ model, messages, tools, options }: RawRequest, redactor: Redactor) {
  return {
    ...(model !== undefined && { model: redactor.text(model) }),
    messages: messages.map((message) => redactor.frozen(message)),
    tools: tools.map((tool) => redactor.frozen(tool)),
    options: redactor.json(options) as InspectedRequest['options'],
  };
}
