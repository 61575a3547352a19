import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  textOf,
  type ApprovalAdvisorOptions,
  type ChatEvent,
  type Decision,
  type PendingRequest,
  type PromptSpec,
  type Tool,
  type ToolApprovalEvent,
  type ToolEffect,
  type ToolMessage,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';

/** A decision by the arguments of the call, which have a field `path`. */
export type ByPath = Readonly<Record<string, Decision>>;

/** The tool `rm`, which records the paths that it has removed. */
export class Remover {
  readonly removed: string[] = [];
  readonly tool: Tool;

  constructor(effect: ToolEffect | undefined = 'write', name = 'rm') {
    this.tool = defineTool({
      name,
      ...(effect && { effect }),
      input: {
        type: 'object',
        properties: { path: { type: 'string' } },
        required: ['path'],
        additionalProperties: false,
      },
      execute: ({ path }) => {
        this.removed.push(String(path));
        return `removed ${String(path)}`;
      },
    });
  }
}

/** Calls of `rm` as an answer of a model. */
export function rm(...paths: readonly string[]): ScriptedAnswer {
  return {
    toolCalls: paths.map((path, at) => ({ id: `c${at}`, name: 'rm', arguments: { path } })),
  };
}

export interface ApprovalTurn {
  readonly tools: readonly Tool[];
  readonly answers: readonly ScriptedAnswer[];
  readonly options?: ApprovalAdvisorOptions;
}

/** A turn with an `ApprovalAdvisor`, and its model. */
export function approvalTurn({ tools, answers, options = {} }: ApprovalTurn): {
  readonly spec: PromptSpec;
  readonly model: ScriptedChatModel;
} {
  const model = new ScriptedChatModel(answers);
  const client = ChatClient.builder(model).defaultAdvisors(new ApprovalAdvisor(options)).build();
  return { spec: client.prompt('Tidy up.').tools(...tools), model };
}

/** The results that a model was sent, in order. */
export function resultsOf(model: ScriptedChatModel): readonly string[] {
  const messages = model.prompts.at(-1)?.messages ?? [];
  const results = messages.filter((message): message is ToolMessage => message.role === 'tool');
  return results.map(({ content }) => textOf(content));
}

/** The approval events of a run. */
export function approvalsOf(events: readonly ChatEvent[]): readonly ToolApprovalEvent[] {
  return events.flatMap((event) =>
    event.type === 'custom' && event.name === 'tool-approval' ? [event.data] : [],
  );
}

/** The path that a request is about. */
export function pathOf(request: PendingRequest): string {
  return request.type === 'approval' ? (request.arguments as { path: string }).path : '';
}
