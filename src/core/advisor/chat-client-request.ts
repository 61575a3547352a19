import type { ChatModel } from '../chat/chat-model.js';
import {
  checkChatOptions,
  frozenOptions,
  mergeOptions,
  withoutDefaults,
  type ChatOptions,
  type ToolContextValues,
} from '../chat/chat-options.js';
import { AdvisorContext, TurnId, type ContextKey } from '../chat/context.js';
import type { Message } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { RunRecord } from '../chat/run-record.js';
import type { Step } from '../chat/run-report.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { Cancellation, cancellationOf, type Cancellable } from '../internal/cancellation.js';
import { frozenFields, frozenList } from '../internal/frozen-copy.js';
import { checkOption, FUNCTION, ID, oneOf, withMethods } from '../internal/options.js';
import type { Observation } from '../observation/observation.js';
import { toolContextValues, type ToolContextInput } from '../tool-execution/tool-context.js';
import { isTool, type Tool } from '../tool/tool.js';
import type { Origin } from './invariants.js';
import { rewriteTranscript, type TranscriptChange } from './transcript.js';

/** The fields of a {@link ChatClientRequest}. */
export interface ChatClientRequestFields {
  /** Messages and options. */
  readonly prompt: Prompt;
  /** `call`: one answer; `stream`: deltas before it. */
  readonly mode: 'call' | 'stream';
  /** All tools that can run in this request, also those not offered to the model. */
  readonly tools?: readonly Tool[] | undefined;
  /** Names of deferred tools that are offered anyway, in order of discovery. */
  readonly unlocked?: readonly string[] | undefined;
  /** Values for the tools; never sent to the model. */
  readonly toolContext?: ToolContextValues | undefined;
  readonly context?: AdvisorContext | undefined;
  /** Number of the iteration within the turn, from 0. */
  readonly iteration?: number | undefined;
  /** Identifier of the turn. @default 32 random characters, new for each run of a client */
  readonly turnId?: string | undefined;
  /** Cancels the run when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Model to call in place of the chain's. */
  readonly model?: ChatModel | undefined;
}

/** Parts of the request of an iteration that the tool loop adopts if advisors changed them. */
export const CHANGEABLE_PARTS = ['tools', 'unlocked', 'toolContext', 'transcript'] as const;

/** The parts as the tool loop made them. */
export interface IterationBase extends Pick<ChatClientRequest, (typeof CHANGEABLE_PARTS)[number]> {
  readonly steps: () => readonly Step[];
}

/** Fields of a request that are created by its run; declarations of the package leave them out. */
interface RunFields {
  /** @internal */
  readonly cancellation?: Cancellable;
  /** @internal */
  readonly turn?: TurnId;
  /** @internal */
  readonly run?: RunRecord;
  /** @internal */
  readonly transcript?: Prompt | undefined;
  /** @internal */
  readonly added?: readonly Message[];
  /** @internal */
  readonly base?: IterationBase | undefined;
  /** @internal */
  readonly origin?: Origin | undefined;
  /** @internal Observation of the part of the run that the request belongs to. */
  readonly observation?: Observation | undefined;
}

const NEVER = new Cancellation();
const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_VALUES: ToolContextValues = Object.freeze({});
/** Accepts anything with the methods of a chat model. */
export const CHAT_MODEL = withMethods('a chat model with call and stream', 'call', 'stream');
const PROMPT = withMethods('a Prompt', 'withMessages');
const MODE = oneOf('call', 'stream');
const CONTEXT = withMethods('an AdvisorContext', 'merge');

/** A request on its way through the chain. Immutable: `with…` methods return copies. */
export class ChatClientRequest implements Required<Omit<ChatClientRequestFields, 'model'>> {
  readonly prompt: Prompt;
  readonly mode: 'call' | 'stream';
  readonly tools: readonly Tool[];
  readonly unlocked: readonly string[];
  readonly toolContext: ToolContextValues;
  readonly context: AdvisorContext;
  readonly iteration: number;
  /** @internal Source of {@link turnId}, which is created on first access. */
  readonly turn: TurnId;
  /** @internal Source of {@link signal}, which is created on first access. */
  readonly cancellation: Cancellable;
  /** @internal */
  readonly observation: Observation | undefined;
  /** @internal Record of the run so far; the same object in all requests of a run. */
  readonly run: RunRecord;
  /** The model to call; undefined for the model of the chain. */
  readonly model: ChatModel | undefined;
  /** The conversation that the tool loop keeps, inside the loop; see {@link withTranscript}. */
  readonly transcript: Prompt | undefined;
  /** @internal User messages that {@link withTranscript} has added so far; for chat memory. */
  readonly added: readonly Message[];
  /** @internal The parts as the tool loop made them, inside the loop. */
  readonly base: IterationBase | undefined;
  /** @internal The advisor that made this request of another one; set by the chain, for error messages. */
  origin: Origin | undefined;

  constructor(fields: ChatClientRequestFields & RunFields) {
    checkOption('ChatClientRequest', 'prompt', fields.prompt, PROMPT);
    checkOption('ChatClientRequest', 'mode', fields.mode, MODE);
    if (fields.context !== undefined)
      checkOption('ChatClientRequest', 'context', fields.context, CONTEXT);
    if (fields.turnId !== undefined) checkOption('ChatClientRequest', 'turnId', fields.turnId, ID);
    this.prompt = fields.prompt;
    this.mode = fields.mode;
    this.tools = frozenList(fields.tools ?? NO_ITEMS);
    this.unlocked = frozenList(fields.unlocked ?? NO_ITEMS);
    this.toolContext = frozenFields(fields.toolContext ?? NO_VALUES);
    this.context = fields.context ?? AdvisorContext.empty;
    this.iteration = fields.iteration ?? 0;
    this.turn =
      fields.turn && fields.turnId === undefined ? fields.turn : new TurnId(fields.turnId);
    const { signal, cancellation = NEVER } = fields;
    this.cancellation = signal ? cancellationOf(signal, cancellation.ready) : cancellation;
    this.observation = fields.observation;
    this.run = fields.run ?? new RunRecord();
    this.model = fields.model;
    this.transcript = fields.transcript;
    this.added = fields.added ?? [];
    this.base = fields.base;
    this.origin = fields.origin;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get turnId(): string {
    return this.turn.id;
  }

  /** The iterations of the turn so far with their results: inside the tool loop those before this one. */
  get steps(): readonly Step[] {
    return this.base?.steps() ?? this.run.steps;
  }

  /** The tools offered to the model: those not deferred, then the unlocked ones. */
  get offeredTools(): readonly Tool[] {
    return this.tools.some((tool) => tool.metadata.deferred)
      ? withUnlocked(this.tools, this.unlocked)
      : this.tools;
  }

  with(fields: Partial<ChatClientRequestFields & RunFields>): ChatClientRequest {
    return new ChatClientRequest({ ...this, ...fields });
  }

  withPrompt(prompt: Prompt): ChatClientRequest {
    return this.with({ prompt });
  }

  withMessages(messages: readonly Message[]): ChatClientRequest {
    return this.with({ prompt: this.prompt.withMessages(messages) });
  }

  /**
   * A copy with other messages for the turn, not for this model call only: the tool loop continues
   * from them, and chat memory stores the user messages that were added. Messages that replace
   * others one by one are not added. Inside the loop the function is applied to the transcript of
   * the loop, and to {@link prompt} too if an advisor has changed that view of it, so it must not
   * have side effects. A tool call and its results must stay together: the rest of the chain ends
   * with a `ChainError` otherwise.
   */
  withTranscript(change: TranscriptChange): ChatClientRequest {
    checkOption('withTranscript(…)', 'change', change, FUNCTION);
    return this.with(rewriteTranscript(this, change));
  }

  /**
   * A copy that goes to another model, with the default options of that model in place of the first
   * one's; everything else stays. The history is made fit for the model when it is called.
   */
  withModel(model: ChatModel): ChatClientRequest {
    checkOption('withModel(…)', 'model', model, CHAT_MODEL);
    const old = this.model?.defaultOptions ?? {};
    const { options, tools, toolContext } = defaultsOf(model);
    const { model: _name, ...own } = withoutDefaults(this.prompt.options, old);
    const ownContext = withoutDefaults({ toolContext: this.toolContext }, old).toolContext;
    return this.with({
      model,
      prompt: this.prompt.replaceOptions(mergeOptions(options, own)),
      tools: [...this.tools.filter((tool) => !old.tools?.includes(tool)), ...tools],
      toolContext: { ...toolContext, ...ownContext },
    });
  }

  /** A copy with these options on top; tools and tool context among them are added to its own. */
  withOptions(options: ChatOptions): ChatClientRequest {
    checkChatOptions(options, 'withOptions(…)');
    const { tools, toolContext, ...rest } = options;
    const notRunnable = tools?.find((tool) => !isTool(tool));
    if (notRunnable)
      throw new InvalidArgumentError(
        `withOptions(…): the tool "${notRunnable.definition.name}" cannot be run, it has no call`,
      );
    return this.with({
      prompt: this.prompt.withOptions(rest),
      ...(tools && { tools: [...this.tools, ...tools.filter(isTool)] }),
      ...(toolContext && { toolContext: { ...this.toolContext, ...toolContext } }),
    });
  }

  withTools(tools: readonly Tool[]): ChatClientRequest {
    return this.with({ tools });
  }

  /** A copy with these values, or one under a key, on top of its tool context. */
  withToolContext<T>(...input: ToolContextInput<T>): ChatClientRequest {
    const added = toolContextValues(input, 'withToolContext(…)');
    return this.with({ toolContext: { ...this.toolContext, ...added } });
  }

  /** A copy with one more value in its context. */
  withContext<T>(key: ContextKey<T>, value: T): ChatClientRequest {
    return this.with({ context: this.context.with(key, value) });
  }

  withSignal(signal: AbortSignal): ChatClientRequest {
    return this.with({ signal });
  }
}

/** The default options of a model as parts of a request. */
export function defaultsOf({ defaultOptions = {} }: Partial<ChatModel>): {
  readonly options: ChatOptions;
  readonly tools: readonly Tool[];
  readonly toolContext: ToolContextValues;
} {
  const { tools = [], toolContext = {}, ...options } = defaultOptions;
  // a resolver may find those that cannot be run
  const offeredOnly = tools.filter((tool) => !isTool(tool));
  return {
    options: frozenOptions(offeredOnly.length > 0 ? { ...options, tools: offeredOnly } : options),
    tools: tools.filter(isTool),
    toolContext,
  };
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
