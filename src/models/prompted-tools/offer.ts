import type { ChatOptions, ToolChoice } from '../../core/chat/chat-options.js';
import { type AssistantMessage, callsOf, type Message } from '../../core/chat/message.js';
import type { OfferedTool } from '../../core/chat/tool-definition.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { JsonValue } from '../../core/internal/json.js';
import { memoize } from '../../core/internal/memoize.js';
import { describe } from '../../core/errors/describe.js';
import { dropOptionalNulls } from '../../core/json-schema/drop-optional-nulls.js';
import { jsonSchemaValidator } from '../../core/json-schema/validator.js';
import type { AnswerReader } from './answer-reader.js';
import type { PlanSyntax } from './plan-syntax.js';
import { toWrittenCalls, type WrittenCall } from './written-calls.js';

const MAX_NAMES = 30;
const validatorOf = memoize(jsonSchemaValidator);

/** The tools that can be called in one answer, and the rules for it. */
export class Offer {
  readonly choice: ToolChoice;
  readonly isParallel: boolean;
  private readonly byName: ReadonlyMap<string, OfferedTool>;

  constructor(
    readonly tools: readonly OfferedTool[],
    { toolChoice = 'auto', parallelToolCalls = true }: ChatOptions,
  ) {
    this.choice = toolChoice;
    this.isParallel = parallelToolCalls;
    this.byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  }

  get requiresCall(): boolean {
    return this.tools.length > 0 && this.choice !== 'auto';
  }

  /** The reasons for which these calls cannot be made; none if they can. */
  issuesOf(calls: readonly WrittenCall[]): readonly string[] {
    if (calls.length > 1 && !this.isParallel)
      return ['only one tool can be called at a time; call the first one'];
    return calls.flatMap((call) => this.issuesOfCall(call));
  }

  private issuesOfCall({ name, arguments: args }: WrittenCall): readonly string[] {
    const tool = this.byName.get(name);
    if (!tool) return [`there is no tool ${describe(name)} to call; ${this.names}`];
    const { inputSchema } = tool.definition;
    const validation = validatorOf(inputSchema)(dropOptionalNulls(args as JsonValue, inputSchema));
    if ('value' in validation) return [];
    return validation.issues.map((issue) => `the arguments of ${describe(name)}: ${issue}`);
  }

  private get names(): string {
    const names = [...this.byName.keys()];
    if (names.length === 0) return 'answer in plain text';
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    return `the tools are ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
  }
}

/** Calls, none of a plain answer; or the issues because of which an answer is neither. */
export type Verdict = readonly WrittenCall[] | { readonly issues: readonly string[] };

/** Judges an answer that has ended. Shows the rest of its text if that was no plan after all. */
export function judgeAnswer(
  { toolCalls = [], refusal }: AssistantMessage,
  reader: AnswerReader,
  syntax: PlanSyntax,
  offer: Offer,
): Verdict {
  // of a model that calls tools, although it was sent none
  if (toolCalls.length > 0) return judgeCalls(toWrittenCalls(toolCalls.map(withoutId)), offer);
  const calls = reader.plan === undefined ? undefined : syntax.readCalls(reader.plan);
  if (typeof calls === 'string') return { issues: [calls] };
  if (calls && calls.length > 0) return judgeCalls(calls, offer);
  if (calls && reader.text.trim() === '')
    return { issues: ['no tool is called, and there is no answer'] };
  if (calls === undefined) reader.showPlan();
  if (reader.showsMark) return { issues: ['it has a part of a call that is not in this form'] };
  if (offer.requiresCall && refusal === undefined) return { issues: ['no tool is called'] };
  return [];
}

function judgeCalls(calls: readonly WrittenCall[] | string, offer: Offer): Verdict {
  if (typeof calls === 'string') return { issues: [calls] };
  const issues = offer.issuesOf(calls);
  return issues.length > 0 ? { issues } : calls;
}

const withoutId = ({ name, arguments: args }: { name: string; arguments: string }): object => {
  return { name, arguments: args };
};

/**
 * The tools that a tool choice allows.
 * @throws {@link InvalidArgumentError} if it names a tool that is not offered
 */
export function allowedTools(
  tools: readonly OfferedTool[],
  toolChoice: ToolChoice | undefined,
): readonly OfferedTool[] {
  if (toolChoice === 'none' || tools.length === 0) return [];
  if (typeof toolChoice !== 'object') return tools;
  const named = tools.filter(({ definition }) => definition.name === toolChoice.tool);
  if (named.length > 0) return named;
  throw new InvalidArgumentError(
    `PromptedToolsModel: toolChoice names ${describe(toolChoice.tool)}, which is not offered`,
  );
}

/** Number of calls of each tool in a conversation. */
export function countUses(messages: readonly Message[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const { name } of messages.flatMap(callsOf)) uses.set(name, (uses.get(name) ?? 0) + 1);
  return uses;
}
