import { decisionProblem } from '../../src/core/chat/decisions.js';
import type { Decision, ToolRequest } from '../../src/core/chat/paused-turn.js';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import { ApprovalError, ToolQuestionError } from '../../src/core/errors/errors.js';
import { callPathOf } from '../../src/core/tool-execution/call-identity.js';
import { runOf } from '../../src/core/tool-execution/tool-context.js';
import type { Answer, ToolQuestion } from '../../src/core/tool-execution/tool-questions.js';
import type { ToolContext } from '../../src/core/tool/tool.js';
import { emitApproval } from './approval-event.js';
import { MAX_QUESTIONS } from './approver.js';
import { askedAgain, questionRequest } from './pending-requests.js';
import { askPerson, isInline, type PersonSettings } from './person.js';
import type { TurnApprovals } from './turn-approvals.js';

/** Answers questions of the tools of a turn, and of the turns within. */
export class ToolAnswers {
  constructor(
    private readonly run: RunRecord,
    private readonly turn: TurnApprovals,
    private readonly person: PersonSettings,
  ) {}

  /**
   * The answer of a person or the client, asked again until it is valid; without a value if there is none.
   * @throws {@link ToolQuestionError} if the tool has to end until the answer is there
   * @throws {@link ApprovalError} if there is no valid answer
   */
  async answer(question: ToolQuestion): Promise<Answer> {
    const first = questionRequest(question, callPathOf(question.context));
    let request = first;
    for (let attempt = 2; ; attempt++) {
      const decision = await this.decisionOn(request, question.context);
      const problem = await problemOf(request, decision, question);
      if (problem === undefined) return answerIn(decision);
      if (attempt > MAX_QUESTIONS) throw noAnswer(request, problem);
      request = askedAgain(first, attempt, problem);
    }
  }

  /** Asks the question of a suspended tool, which is called again with the answer. */
  async ask(request: ToolRequest, context: ToolContext): Promise<Decision | undefined> {
    emitApproval(context, { state: 'asked', request });
    const decision = await askPerson(request, context, this.person);
    emitApproval(context, { state: 'decided', request, decision });
    this.turn.answers.set(request.id, decision);
    return decision;
  }

  private async decisionOn(
    request: ToolRequest,
    context: ToolContext,
  ): Promise<Decision | undefined> {
    const { answers } = this.turn;
    if (answers.has(request.id)) return answers.get(request.id);
    if (isInline(this.person, this.run)) return this.ask(request, context);
    const { toolName } = request;
    if (runOf(context) !== this.run)
      throw noAnswer(request, 'the client of the agent needs an ApprovalAdvisor of its own');
    const of = request.type === 'question' ? 'an answer of the user' : 'the client, which runs it';
    throw new ToolQuestionError(`The tool "${toolName}" waits for ${of}.`, request);
  }
}

function answerIn(decision: Decision | undefined): Answer {
  if (decision?.type === 'answer') return { value: decision.value };
  return { reason: decision?.type === 'cancel' ? decision.reason : undefined };
}

async function problemOf(
  request: ToolRequest,
  decision: Decision | undefined,
  { check }: ToolQuestion,
): Promise<string | undefined> {
  if (!decision) return undefined;
  const problem = decisionProblem(request, decision);
  if (problem !== undefined || decision.type !== 'answer') return problem;
  const checked = await check(decision.value);
  return 'value' in checked ? undefined : `The answer is not valid: ${checked.issues.join('; ')}`;
}

function noAnswer({ toolName, callId }: ToolRequest, problem: string): ApprovalError {
  return new ApprovalError(
    `tool "${toolName}": no answer of the user: ${problem}`,
    toolName,
    callId,
  );
}
