import { Cancellation, cancellationOf, type Cancellable } from '../chat/cancellation.js';
import { checkOptions, type ChatOptions, type ToolContextValues } from '../chat/chat-options.js';
import { AdvisorContext, type ContextKey } from '../chat/context.js';
import { describe, type Message } from '../chat/message.js';
import type { Observation } from '../chat/observation.js';
import type { Prompt } from '../chat/prompt.js';
import { Turn } from '../chat/turn.js';
import { InvalidArgumentError } from '../errors.js';
import { toolContextValues, type ToolContextInput } from '../tool/tool-context-input.js';
import { isTool, type Tool } from '../tool/tool.js';

/** The fields of a {@link ChatClientRequest}. */
export interface ChatClientRequestFields {
  /** Messages and options. */
  readonly prompt: Prompt;
  /** `call`: one answer; `stream`: deltas before it. */
  readonly mode: 'call' | 'stream';
  /** Every tool that may run in this request, offered to the model or not. */
  readonly tools?: readonly Tool[] | undefined;
  /** Names of deferred tools that are offered all the same, in order of discovery. */
  readonly unlocked?: readonly string[] | undefined;
  /** Values for the tools; the model never sees them. */
  readonly toolContext?: ToolContextValues | undefined;
  readonly context?: AdvisorContext | undefined;
  /** Number of the iteration within the turn, from 0. */
  readonly iteration?: number | undefined;
  /** Identifies the turn. @default a random text of 32 characters, one for each run of a client */
  readonly turnId?: string | undefined;
  /** Aborts when the run is over before its end. */
  readonly signal?: AbortSignal | undefined;
}

/** What a request has from the run that it is a part of. */
export interface RunFields {
  readonly cancellation?: Cancellable;
  readonly turn?: Turn;
  readonly observation?: Observation | undefined;
}

const NEVER = new Cancellation();

/** What travels through the chain to the model. Immutable: the `with…` methods give changed copies. */
export class ChatClientRequest implements Required<ChatClientRequestFields> {
  readonly prompt: Prompt;
  readonly mode: 'call' | 'stream';
  readonly tools: readonly Tool[];
  readonly unlocked: readonly string[];
  readonly toolContext: ToolContextValues;
  readonly context: AdvisorContext;
  readonly iteration: number;
  /** The turn; {@link turnId} is made from it when somebody asks. */
  readonly turn: Turn;
  /** How the run ends before its end; {@link signal} is made from it when somebody asks. */
  readonly cancellation: Cancellable;
  /** What watches the part of the run that the request is in; undefined where nobody does. */
  readonly observation: Observation | undefined;

  constructor(fields: ChatClientRequestFields & RunFields) {
    checkFields(fields);
    this.prompt = fields.prompt;
    this.mode = fields.mode;
    this.tools = fields.tools ?? [];
    this.unlocked = fields.unlocked ?? [];
    this.toolContext = fields.toolContext ?? {};
    this.context = fields.context ?? AdvisorContext.empty;
    this.iteration = fields.iteration ?? 0;
    this.turn = fields.turn && fields.turnId === undefined ? fields.turn : new Turn(fields.turnId);
    const { signal, cancellation = NEVER } = fields;
    this.cancellation = signal ? { ...cancellationOf(signal), ready: cancellation.ready } : cancellation;
    this.observation = fields.observation;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get turnId(): string {
    return this.turn.id;
  }

  /** The tools that the model is offered: those that are not deferred, then the unlocked ones in order of discovery. */
  get offeredTools(): readonly Tool[] {
    return this.tools.some((tool) => tool.metadata.deferred) ? withUnlocked(this.tools, this.unlocked) : this.tools;
  }

  with(fields: Partial<ChatClientRequestFields>): ChatClientRequest {
    return new ChatClientRequest({ ...this, ...fields });
  }

  withPrompt(prompt: Prompt): ChatClientRequest {
    return this.with({ prompt });
  }

  withMessages(messages: readonly Message[]): ChatClientRequest {
    return this.with({ prompt: this.prompt.withMessages(messages) });
  }

  /** A copy whose options are these on top of the present ones; tools and tool context among them go where the request has them. */
  withOptions(options: ChatOptions): ChatClientRequest {
    checkOptions(options, 'withOptions(…)');
    const { tools, toolContext, ...rest } = options;
    const idle = tools?.find((tool) => !isTool(tool));
    if (idle) throw new InvalidArgumentError(`withOptions(…): the tool "${idle.definition.name}" cannot be run, it has no call`);
    return this.with({
      prompt: this.prompt.withOptions(rest),
      ...(tools && { tools: [...this.tools, ...tools.filter(isTool)] }),
      ...(toolContext && { toolContext: { ...this.toolContext, ...toolContext } }),
    });
  }

  withTools(tools: readonly Tool[]): ChatClientRequest {
    return this.with({ tools });
  }

  /** A copy whose tool context has these values, or one under a key, on top of the present ones. */
  withToolContext<T>(...input: ToolContextInput<T>): ChatClientRequest {
    return this.with({ toolContext: { ...this.toolContext, ...toolContextValues(input, 'withToolContext(…)') } });
  }

  /** A copy whose context has one more value. */
  withContext<T>(key: ContextKey<T>, value: T): ChatClientRequest {
    return this.with({ context: this.context.with(key, value) });
  }

  /** A copy that is in another part of the run, as those who watch it see it. */
  withObservation(observation: Observation): ChatClientRequest {
    return new ChatClientRequest({ ...this, observation });
  }

  withSignal(signal: AbortSignal): ChatClientRequest {
    return this.with({ signal });
  }
}

function withUnlocked(tools: readonly Tool[], unlocked: readonly string[]): readonly Tool[] {
  const found = new Map<string, Tool | undefined>(unlocked.map((name) => [name, undefined]));
  const shown: Tool[] = [];
  for (const tool of tools) {
    const { name } = tool.definition;
    if (!tool.metadata.deferred) shown.push(tool);
    else if (found.has(name)) found.set(name, found.get(name) ?? tool);
  }
  return [...shown, ...[...found.values()].filter((tool) => tool !== undefined)];
}

function checkFields({ prompt, mode, context }: ChatClientRequestFields): void {
  if (typeof prompt?.withMessages !== 'function')
    throw new InvalidArgumentError(`ChatClientRequest: prompt must be a Prompt, not ${describe(prompt)}`);
  if (mode !== 'call' && mode !== 'stream')
    throw new InvalidArgumentError(`ChatClientRequest: mode must be 'call' or 'stream', not ${describe(mode)}`);
  if (context !== undefined && typeof context?.merge !== 'function')
    throw new InvalidArgumentError(`ChatClientRequest: context must be an AdvisorContext, not ${describe(context)}`);
}
