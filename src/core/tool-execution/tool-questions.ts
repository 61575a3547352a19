import type { QuestionRequest } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/context.js';
import { ApprovalError, InvalidArgumentError, ToolError } from '../errors/errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { canonicalJson, type JsonValue } from '../internal/json.js';
import { checkOption, TEXT } from '../internal/options.js';
import { sha256Hex } from '../internal/text.js';
import { checkLater } from '../json-schema/check-later.js';
import type { Validation } from '../json-schema/standard-schema.js';
import { toJsonSchema, type InputSchema } from '../json-schema/to-json-schema.js';
import type { ToolContext } from '../tool/tool.js';

/** The answer to a question: a value, or undefined if the person refused. */
export type Answer = { readonly value: JsonValue } | undefined;

/** A question of a tool, with the check of its answer. */
export interface ToolQuestion {
  readonly context: ToolContext;
  /** Without the id of the call, which the asker adds. */
  readonly request: Omit<QuestionRequest, 'id' | 'agents' | 'expiresAt'>;
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
    const where = `tool "${call.name}": ask(…)`;
    checkOption(where, 'prompt', prompt, TEXT);
    const json = toJsonSchema(schema, where);
    const validate = checkLater(schema, json);
    const asker = this.run && (SLOT.get(this.run) ?? SLOT.ofOuter(this.run));
    if (!asker) throw noAsker(where, call);
    const number = ++this.count;
    const asked = sha256Hex(canonicalJson([prompt, json as JsonValue])).slice(0, 12);
    const answer = await this.answerOf(asker.ask, {
      context: this.context,
      request: { type: 'question', toolName: call.name, callId: call.id, prompt, schema: json },
      key: `${number}.${asked}`,
      check: validate,
    });
    if (!answer) throw new ToolError(`The user did not answer the question: ${prompt}`);
    const checked = await validate(answer.value);
    if ('value' in checked) return checked.value;
    throw new InvalidArgumentError(`${where}: the answer is invalid: ${checked.issues.join('; ')}`);
  }

  private async answerOf(ask: Asker, question: ToolQuestion): Promise<Answer> {
    try {
      return await ask(question);
    } catch (error) {
      if (hasCode(error, 'tool_question')) this.unanswered ??= error;
      throw error;
    }
  }
}

function noAsker(where: string, call: ToolContext['call']): ApprovalError {
  const problem = `${where} needs an ApprovalAdvisor in the chain, which can ask the user`;
  return new ApprovalError(problem, call.name, call.id);
}
