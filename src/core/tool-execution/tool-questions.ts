import type { ClientToolRequest, QuestionRequest } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/context.js';
import { ApprovalError, InvalidArgumentError, ToolError } from '../errors/errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { canonicalJson, type JsonValue } from '../internal/json.js';
import { checkOption, TEXT } from '../internal/options.js';
import { sha256Hex } from '../internal/text.js';
import { jsonData } from '../internal/json-data.js';
import { checkLater } from '../json-schema/check-later.js';
import type { Validation } from '../json-schema/standard-schema.js';
import { toJsonSchema, type InputSchema } from '../json-schema/to-json-schema.js';
import { clientCallIn, type ClientCall } from '../tool/client-tool.js';
import type { ToolContext } from '../tool/tool.js';
import { parseArguments } from './check-call.js';

/** The answer to a question: a value, or else the reason for which there is none. */
export type Answer = { readonly value: JsonValue } | { readonly reason: string | undefined };

/** Fields that the asker adds, such as the id of the call. */
type Added = 'id' | 'agents' | 'expiresAt';

/** A question of a tool, with the check of its answer. */
export interface ToolQuestion {
  readonly context: ToolContext;
  readonly request: Omit<QuestionRequest, Added> | Omit<ClientToolRequest, Added>;
  /** Identifies the question within the call. */
  readonly key: string;
  readonly check: (value: JsonValue) => Promise<Validation>;
}

/**
 * Brings questions of tools to people. Rejects with a `ToolQuestionError` if the tool has to end
 * until the answer is there.
 */
export type Asker = (question: ToolQuestion) => Promise<Answer>;

const SLOT = new RunSlot<{ readonly ask: Asker }>();

/** Lets the tools of a run, and of the runs nested in it, ask. */
export function setAsker(run: RunRecord, ask: Asker): void {
  SLOT.set(run, { ask });
}

/** True if a run, or one around it, has an advisor that can ask people. */
export function canAsk(run: RunRecord): boolean {
  return (SLOT.get(run) ?? SLOT.ofOuter(run)) !== undefined;
}

/** The questions of an `ask`, which copies of its context share. */
const QUESTIONS = Symbol('questions');

/** The `ask` of a context; `hold` of its emitter receives the promise of each answer. */
export function askOf(
  context: ToolContext,
  run: RunRecord | undefined,
  emitter: { hold?<T>(answer: Promise<T>): Promise<T> },
): ToolContext['ask'] {
  const questions = new ToolQuestions(context, run);
  const ask = (schema: InputSchema, prompt: string): Promise<unknown> => {
    const answer = questions.ask(schema, prompt);
    return emitter.hold ? emitter.hold(answer) : answer;
  };
  return Object.assign(ask as ToolContext['ask'], { [QUESTIONS]: questions });
}

/** Undefined for an `ask` that an advisor has made. */
export function questionsOf(
  ask: ToolContext['ask'] & { readonly [QUESTIONS]?: ToolQuestions },
): ToolQuestions | undefined {
  return ask[QUESTIONS];
}

/** The questions of one attempt of a tool call. */
export class ToolQuestions {
  private count = 0;
  /** The error of a question whose answer is not there yet, also if the tool has handled it. */
  unanswered: Error | undefined;

  constructor(
    private readonly context: ToolContext,
    private readonly run: RunRecord | undefined,
  ) {}

  /** Begins another attempt of the call, which asks the questions of the attempt before. */
  restart(): void {
    this.count = 0;
    this.unanswered = undefined;
  }

  /**
   * Asks, and checks the answer.
   * @throws {@link ToolError} if the person refuses to answer
   * @throws {@link ApprovalError} if no person can be asked
   * @throws {@link InvalidArgumentError} if the schema or the prompt is invalid
   */
  async ask(schema: InputSchema, prompt: string): Promise<unknown> {
    const { call } = this.context;
    const clientCall = clientCallIn(schema);
    if (clientCall) return this.askClient(clientCall, prompt);
    const where = `tool "${call.name}": ask(…)`;
    checkOption(where, 'prompt', prompt, TEXT);
    const json = toJsonSchema(schema, where);
    const validate = checkLater(schema, json);
    const answer = await this.answerOf(where, {
      request: { type: 'question', toolName: call.name, callId: call.id, prompt, schema: json },
      content: [prompt, json as JsonValue],
      check: validate,
    });
    if ('reason' in answer)
      throw refused(`The user did not answer the question: ${prompt}`, answer.reason);
    const checked = await validate(answer.value);
    if ('value' in checked) return checked.value;
    throw new InvalidArgumentError(`${where}: the answer is invalid: ${checked.issues.join('; ')}`);
  }

  /** Has the client run the call: its output gets the checks of any tool's result. */
  private async askClient({ schema, args }: ClientCall, prompt: string): Promise<JsonValue> {
    const { call } = this.context;
    const { name: toolName, id: callId } = call;
    // of values that JSON has not, such as a date that a schema has made, what the model wrote
    const shown = jsonData(args) ?? parseArguments(call.arguments);
    const request = { type: 'client-tool', toolName, callId, arguments: shown, prompt } as const;
    const answer = await this.answerOf(
      `tool "${toolName}" has no execute, so the client runs it: it`,
      {
        request: { ...request, ...(schema && { schema }) },
        content: [shown, (schema ?? null) as JsonValue],
        check: async (value) =>
          jsonData(value) === undefined ? { issues: ['it must be JSON'] } : { value },
      },
    );
    if ('value' in answer) return answer.value;
    throw refused(`The client did not run "${toolName}".`, answer.reason);
  }

  private async answerOf(
    where: string,
    { content, ...question }: Pick<ToolQuestion, 'request' | 'check'> & { content: JsonValue },
  ): Promise<Answer> {
    const { context, run } = this;
    const asker = run && (SLOT.get(run) ?? SLOT.ofOuter(run));
    if (!asker) throw noAsker(where, context.call);
    const key = `${++this.count}.${sha256Hex(canonicalJson(content)).slice(0, 12)}`;
    try {
      return await asker.ask({ context, key, ...question });
    } catch (error) {
      if (hasCode(error, 'tool_question')) this.unanswered ??= error;
      throw error;
    }
  }
}

function refused(text: string, reason: string | undefined): ToolError {
  return new ToolError(reason?.trim() ? `${text} Reason: ${reason.trim()}` : text);
}

const NO_ASKER = new WeakSet<object>();

/** True for the error of a question in a chain that cannot ask: the application's, not the tool's. */
export const isWithoutAsker = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && NO_ASKER.has(error);

function noAsker(where: string, call: ToolContext['call']): ApprovalError {
  const problem = `${where} needs an ApprovalAdvisor with pause or decide in the chain`;
  const error = new ApprovalError(problem, call.name, call.id);
  NO_ASKER.add(error);
  return error;
}
