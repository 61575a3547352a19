import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AssistantMessage } from '../chat/message.js';
import { RunRecord } from '../chat/run-record.js';
import type { RunReport } from '../chat/run-report.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { LimitExceededError, ToolError, TurnPausedError } from '../errors/errors.js';
import { checkFields, checkOption, FUNCTION, integer, withMethods } from '../internal/options.js';
import type { InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import { AGENT_PATH, callKeyOf, type AgentCall } from '../tool-execution/call-identity.js';
import { makeTool, type ToolOptions, type ToolSettings } from '../tool/define-tool.js';
import type { NamedTool, ToolContext } from '../tool/tool.js';
import type { ChatClient, PromptSpec } from './chat-client.js';

/** The default arguments of an agent, for the compiler. */
type MessageSchema = StandardSchemaV1<{ readonly message: string }>;

/** The result of an agent: the value of its `output` schema, or else the text of its answer. */
export type AgentOutput<O> = O extends InputSchema ? InferOutput<O> : string;

/** Options of {@link agentTool}: options of a tool, without a function. */
export interface AgentToolOptions<
  S extends InputSchema = MessageSchema,
  O extends InputSchema | undefined = undefined,
  Name extends string = string,
> extends Omit<ToolSettings<S, AgentOutput<O>>, 'name' | 'output' | 'timeout'> {
  readonly name: Name;
  /** Schema of the arguments. @default `{ message }`, which is asked */
  readonly input?: S | undefined;
  /**
   * Schema of the answer: the turn is asked for it as by `entity(schema)`, and its value is the
   * result.
   * @default the text of the answer
   */
  readonly output?: O | undefined;
  /** Time limit of a turn in milliseconds, or `Infinity`. @default Infinity: the client has limits */
  readonly timeout?: number | undefined;
  /**
   * Changes the turn, for example its text or its conversation. It has a user text, the tool context
   * and the signal of the call, and its idempotency key as turn id; another signal would take it out
   * of the ledger of the outer turn.
   * @default asks the `message`; of another input, the arguments as JSON
   */
  readonly turn?:
    ((turn: PromptSpec, args: InferOutput<S>, context: ToolContext) => PromptSpec) | undefined;
  /** Maximum number of turns that may be around the turn of the agent, >= 1. @default 5 */
  readonly maxDepth?: number | undefined;
}

const CLIENT = withMethods('a ChatClient', 'prompt', 'mutate', 'explain');
const RULES = { turn: FUNCTION, maxDepth: integer(1) };
const MESSAGE: JsonSchema = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The message, with all it needs.' } },
  required: ['message'],
};

/**
 * Makes a client a tool of another one. A call is a turn of the client: its events are the
 * `tool-progress` of the call, its model calls are in the ledger and the usage of the outer turn, and
 * it ends with the outer turn. An error of the turn is an error of the tool.
 *
 * A call beyond `maxDepth` fails with a {@link LimitExceededError}, an answer without text with a
 * {@link ToolError}.
 * @throws {@link InvalidArgumentError} if the client or an option is invalid
 * @throws {@link ToolDefinitionError} if the name, a schema or another option of the tool is invalid
 */
export function agentTool<
  const Name extends string,
  S extends InputSchema = MessageSchema,
  O extends InputSchema | undefined = undefined,
>(
  client: ChatClient,
  options: AgentToolOptions<S, O, Name>,
): NamedTool<Name, InferOutput<S>, AgentOutput<O>> {
  checkOption('agentTool', 'client', client, CLIENT);
  checkFields('agentTool', options, RULES);
  const { turn, maxDepth = 5, timeout = Infinity, ...settings } = options;
  const { inputSchema, input = inputSchema ?? MESSAGE } = options;
  const execute = (args: InferOutput<S>, context: ToolContext): Promise<unknown> => {
    checkDepth(options.name, maxDepth, context);
    const prompt = client.prompt().user(questionText(args, input === MESSAGE));
    const ofCall = prompt.toolContext(context.values).signal(context.signal);
    const path = [...context.advisorContext.get(AGENT_PATH), agentCallOf(context)];
    const spec = ofCall.turnId(context.idempotencyKey).advisors((a) => a.param(AGENT_PATH, path));
    return answerOf(turn ? turn(spec, args, context) : spec, options, context);
  };
  const schema = input === inputSchema ? {} : { input };
  const toolOptions = { ...settings, ...schema, timeout, execute } as unknown;
  const tool = makeTool(toolOptions as ToolOptions<InputSchema>, 'agentTool');
  // the turn has checked its answer; a schema that changes values must not see them twice
  const hasOwnSteps = client.explain().isDurable;
  const unchecked: unknown = Object.freeze({ ...tool, validateResult: undefined, hasOwnSteps });
  return unchecked as NamedTool<Name, InferOutput<S>, AgentOutput<O>>;
}

function agentCallOf(context: ToolContext): AgentCall {
  return { toolName: context.call.name, key: callKeyOf(context) };
}

/** @throws {@link LimitExceededError} if too many turns are around the call */
function checkDepth(toolName: string, value: number, { signal }: ToolContext): void {
  let depth = 0;
  for (let run = RunRecord.of(signal); run; run = run.parent) depth++;
  if (depth <= value) return;
  throw new LimitExceededError(`The agent "${toolName}" was called within ${depth} turns`, {
    limit: 'agent-depth',
    value,
    spent: depth,
    option: 'maxDepth',
    toolName,
  });
}

/** @throws {@link ToolError} if the message is empty */
function questionText(args: unknown, isMessage: boolean): string {
  if (!isMessage) return JSON.stringify(args);
  const { message } = args as { readonly message: string };
  if (message.trim() === '') throw new ToolError('The message is empty.');
  return message;
}

/** @throws {@link TurnPausedError} if the turn waits for people, and the outer turn cannot wait with it */
function messageOf(name: string, { message, paused }: ChatResponse): AssistantMessage {
  if (!paused) return message;
  throw new TurnPausedError(
    `The turn of the agent "${name}" waits for people, but the client that called it cannot pause: give that client an ApprovalAdvisor that can.`,
  );
}

/**
 * Runs the turn and reports its events.
 * @throws the error of the turn, {@link ToolError} if it has no answer
 */
async function answerOf(
  spec: PromptSpec,
  { name, output }: { readonly name: string; readonly output?: InputSchema | undefined },
  context: ToolContext,
): Promise<unknown> {
  const result = spec.stream();
  const value = output === undefined ? undefined : result.entity(output);
  let message: AssistantMessage | undefined;
  try {
    for await (const event of result.events() as AsyncIterable<ChatEvent>) {
      if (event.type === 'response') {
        message = messageOf(name, event.response);
        recordLedger(event.run, context);
      } else {
        if (!event.isReplayed) RunRecord.of(context.signal)?.beginOperation();
        context.progress(event);
      }
    }
  } catch (error) {
    recordLedger((error as { readonly run?: RunReport }).run, context);
    throw error;
  }
  if (value) return value;
  if (message?.content) return message.content;
  const refusal = message?.refusal;
  throw new ToolError(
    refusal ? `"${name}" refused: ${refusal}` : `"${name}" ended without an answer.`,
  );
}

/** Adds the model calls of the agent to its call, with which they are recorded. */
function recordLedger(run: RunReport | undefined, { call, signal }: ToolContext): void {
  if (run) RunRecord.of(signal)?.recorder.addModelCalls(call.id, run.ledger);
}
