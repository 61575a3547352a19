import { addStopConditions, type StopConditionOf } from '../advisor/stop-condition.js';
import { explainChain, type ChainExplanation } from '../advisor/explain.js';
import type { ChatModel } from '../chat/chat-model.js';
import {
  checkChatOptions,
  frozenOptions,
  mergeOptions,
  type ChatOptions,
} from '../chat/chat-options.js';
import { CONVERSATION_ID } from '../chat/context.js';
import { checkMessage, frozenMessage, type ContentPart, type Message } from '../chat/message.js';
import type { PendingTurn, ResumeDecisions } from '../chat/paused-turn.js';
import type { PriceOfCall } from '../chat/price.js';
import type { Prompt } from '../chat/prompt.js';
import { useInstead } from '../internal/name-hint.js';
import { checkOption, FUNCTION, ID, TEXT, withMethods } from '../internal/options.js';
import { toolContextValues, type ToolContextInput } from '../tool-execution/tool-context.js';
import type { Tool } from '../tool/tool.js';
import { AdvisorSpec, configureAdvisors, type AdvisorInput } from './advisor-spec.js';
import { CallResult } from './call-result.js';
import {
  addTools,
  advisorsOf,
  initialSettings,
  knownTools,
  type RequestSettings,
  type ToolIn,
  type ToolInput,
  type ToolLoopFactory,
  type WithoutRecords,
} from './request-settings.js';
import { checkResumed, pendingTurns, toResume } from './resume.js';
import { StreamResult } from './stream-result.js';
import { checkStreamOptions, type StreamOptions } from './stream-texts.js';
import type { TemplateParams, TemplateRenderer } from './template.js';
import {
  checkNamedValues,
  configureText,
  SystemSpec,
  UserSpec,
  type SystemInput,
  type TextInput,
  type UserInput,
} from './text-spec.js';
import { Warnings, type WarningLogger } from './warnings.js';

/** Starts requests with common defaults. Immutable and stateless; may be shared. */
export class ChatClient<T extends Tool = Tool> {
  constructor(private readonly defaults: PromptSpec<T>) {}

  /** Starts a request; `input` is the text of a user message, or a prompt that is copied. */
  prompt(input?: string | Prompt): PromptSpec<T> {
    if (input === undefined) return this.defaults;
    // structural: a prompt of a second copy of this package is accepted, too
    if (typeof input === 'object' && Array.isArray(input?.messages))
      return this.defaults.messages(input.messages).options(input.options);
    checkOption('prompt(…)', 'input', input, INPUT);
    return this.defaults.messages({ role: 'user', content: input as string });
  }

  /**
   * Resumes a paused turn, by its id or its state: texts, conversation and turn id come from its state,
   * all else from this client. Requests without a decision stay open; see {@link PausedStateError}.
   * @param decisions a record, or a function that decides on each request that is open then
   */
  resume(idOrState: string, decisions: ResumeDecisions = {}): PromptSpec<T> {
    return this.defaults.resume(idOrState, decisions);
  }

  /**
   * Finds the paused turns that this client can resume, the latest pause last.
   * @param wanted the id of a conversation, or `{ id }` for the turn with this id
   * @throws {@link InvalidArgumentError} if the id is not valid or no advisor pauses turns, {@link KeyValueError}
   */
  pending(wanted: string | Pick<PendingTurn, 'id'>): Promise<readonly PendingTurn[]> {
    return this.defaults.pending(wanted);
  }

  /** A builder that starts with the defaults of this client. */
  mutate(): ChatClientBuilder<T> {
    return this.defaults.mutate();
  }

  protected get call(): never {
    return useInstead('prompt(text).call()');
  }

  protected get stream(): never {
    return useInstead('prompt(text).stream()');
  }

  /** Describes which advisors run for a request of this client, and in which order. */
  explain(): ChainExplanation {
    return this.defaults.explain();
  }
}

/**
 * A request under construction. Immutable: every method returns a new spec, so one spec can be the
 * start of many and can run any number of times, also concurrently. Options and messages are copied.
 *
 * Every setter throws an `InvalidArgumentError` at once if its argument is invalid.
 */
export class PromptSpec<T extends Tool = Tool> {
  /** @internal */
  readonly settings: RequestSettings;

  constructor(settings: RequestSettings) {
    this.settings = settings;
  }

  /** Sets the system text; with params, also from the client, it is a template. */
  system(input: SystemInput, params?: TemplateParams): PromptSpec<T> {
    const { system } = this.settings;
    return this.with({ system: configureText(SystemSpec, system, input, params) });
  }

  /**
   * Sets the user text, sent after all other messages; with params it is a template. A text that
   * replaces another one drops its params.
   */
  user(input: UserInput, params?: TemplateParams): PromptSpec<T> {
    let { user } = this.settings;
    // often the text of a user: typing the name of a param must not print its value
    if (typeof input === 'string' && user.text !== undefined) user = { ...user, params: {} };
    const build = Array.isArray(input)
      ? (spec: UserSpec) => spec.part(...(input as readonly ContentPart[]))
      : (input as TextInput<UserSpec>);
    return this.with({ user: configureText(UserSpec, user, build, params) });
  }

  /** Adds messages between the system text and the user text. */
  messages(...messages: readonly (Message | readonly Message[])[]): PromptSpec<T> {
    const added = messages.flat();
    added.forEach((message, at) => checkMessage(message, `messages(…): message ${at}`));
    return this.with({ messages: [...this.settings.messages, ...added.map(frozenMessage)] });
  }

  /** Sets options on top of the client's, option by option. */
  options(options: ChatOptions): PromptSpec<T> {
    checkChatOptions(options, 'options(…)');
    const { tools, toolContext, ...rest } = options;
    const merged = mergeOptions(this.settings.options, rest);
    const changed = this.with({ options: frozenOptions(merged) });
    const withTools = tools ? changed.with(addTools(changed.settings, tools as Tool[])) : changed;
    return toolContext ? withTools.toolContext(toolContext) : withTools;
  }

  /** Adds tools and tool providers to the client's. */
  tools<I extends readonly ToolInput[]>(
    ...tools: I & WithoutRecords<I>
  ): PromptSpec<T | ToolIn<I>> {
    return this.with(addTools(this.settings, tools));
  }

  /** Adds values for the tools, or one under a key; never sent to the model. */
  toolContext<V>(...input: ToolContextInput<V>): PromptSpec<T> {
    const values = toolContextValues(input, 'toolContext(…)');
    checkNamedValues('toolContext(…)', 'values', values);
    return this.with({ toolContext: Object.freeze({ ...this.settings.toolContext, ...values }) });
  }

  /**
   * Sets the conversation of the turn, for memories, locks and logs: the context key `CONVERSATION_ID`. At most
   * 512 characters, without NUL; there is no default.
   */
  conversation(id: string): PromptSpec<T> {
    checkOption('conversation(…)', 'id', id, ID);
    return this.with({ params: this.settings.params.with(CONVERSATION_ID, id) });
  }

  /** Adds advisors, or values for them: `advisors((a) => a.param(TENANT, 'acme'))`. */
  advisors(...parts: readonly AdvisorInput[]): PromptSpec<T> {
    const { advisors, params } = this.settings;
    const { added, context } = configureAdvisors(new AdvisorSpec(advisors, params), parts);
    return this.with({ advisors: added, params: context });
  }

  /**
   * Adds conditions, any of which ends the turn after an iteration whose calls have results, without
   * a further model call: the response has no text, the finish reason `stopCondition`, and `steps`.
   */
  stopWhen(...conditions: readonly StopConditionOf<T>[]): PromptSpec<T> {
    return this.with({ params: addStopConditions(this.settings.params, conditions) });
  }

  /** Sets how params are put into texts. @default `{name}` is replaced by its value */
  templateRenderer(renderer: TemplateRenderer): PromptSpec<T> {
    checkOption('templateRenderer(…)', 'renderer', renderer, FUNCTION);
    return this.with({ renderer });
  }

  /** Sets the price of model calls, such as a `priceTable`; `response.cost` is their sum. */
  price(price: PriceOfCall): PromptSpec<T> {
    checkOption('price(…)', 'a price, such as priceTable({ … }),', price, FUNCTION);
    return this.with({ price });
  }

  /** Sets the signal that cancels the runs of this spec. */
  signal(signal: AbortSignal): PromptSpec<T> {
    checkOption('signal(…)', 'signal', signal, SIGNAL);
    return this.with({ signal });
  }

  /**
   * Sets the identifier of the turn, such as the id of its order or message: a turn that is repeated
   * under its id, also in another process, gives its tool calls their idempotency keys again. Not for
   * two different turns. At most 512 characters, without NUL. @default 32 random characters
   */
  turnId(id: string): PromptSpec<T> {
    checkOption('turnId(…)', 'id', id, ID);
    return this.with({ turnId: id });
  }

  /** Resumes a paused turn; see {@link ChatClient.resume}. */
  resume(idOrState: string, decisions: ResumeDecisions = {}): PromptSpec<T> {
    return this.with({ resume: toResume(idOrState, decisions) });
  }

  /** Finds paused turns, of the owner that this request has; see {@link ChatClient.pending}. */
  pending(wanted: string | Pick<PendingTurn, 'id'>): Promise<readonly PendingTurn[]> {
    return pendingTurns(this.settings, wanted);
  }

  /** Requests the complete answer. Nothing is sent until a method of the result is called. */
  call(): CallResult<T> {
    return new CallResult(this.settings);
  }

  /** Requests a streamed answer. Nothing is sent until the result is subscribed or iterated. */
  stream(options: StreamOptions = {}): StreamResult<T> {
    return new StreamResult(this.settings, checkStreamOptions(options));
  }

  protected get content(): never {
    return useInstead('call().content() or stream().content()');
  }

  /** A builder of clients with the settings of this spec as defaults, without its signal and turn id. */
  mutate(): ChatClientBuilder<T> {
    return new ChatClientBuilder(
      this.with({ signal: undefined, turnId: undefined, resume: undefined }),
    );
  }

  /** Describes which advisors run for this request, and in which order. */
  explain(): ChainExplanation {
    return explainChain(advisorsOf(this.settings), knownTools(this.settings));
  }

  /** @internal */
  with(changed: Partial<RequestSettings>): PromptSpec<T> {
    checkResumed(this.settings, changed);
    return new PromptSpec({ ...this.settings, ...changed });
  }
}

const INPUT = { ...TEXT, text: 'a non-blank string or a Prompt; use messages(…) for messages' };
const SIGNAL = withMethods('an AbortSignal', 'addEventListener');
const WARNING_LOGGER = withMethods('false, or a logger with the method warn', 'warn');

/**
 * Collects the defaults of a {@link ChatClient}: each setter is the same as of {@link PromptSpec},
 * and throws at once on an invalid argument.
 */
export class ChatClientBuilder<T extends Tool = Tool> {
  constructor(private defaults: PromptSpec<T>) {}

  /** A builder without defaults. */
  static of(model: ChatModel, toolLoop: ToolLoopFactory): ChatClientBuilder<never> {
    return new ChatClientBuilder(new PromptSpec<never>(initialSettings(model, toolLoop)));
  }

  defaultSystem(input: SystemInput, params?: TemplateParams): this {
    return this.set(this.defaults.system(input, params));
  }

  defaultUser(input: UserInput, params?: TemplateParams): this {
    return this.set(this.defaults.user(input, params));
  }

  defaultMessages(...messages: readonly (Message | readonly Message[])[]): this {
    return this.set(this.defaults.messages(...messages));
  }

  defaultOptions(options: ChatOptions): this {
    return this.set(this.defaults.options(options));
  }

  defaultTools<I extends readonly ToolInput[]>(
    ...tools: I & WithoutRecords<I>
  ): ChatClientBuilder<T | ToolIn<I>> {
    return this.set(this.defaults.tools(...tools)) as ChatClientBuilder<T | ToolIn<I>>;
  }

  defaultToolContext<V>(...input: ToolContextInput<V>): this {
    return this.set(this.defaults.toolContext(...input));
  }

  defaultAdvisors(...parts: readonly AdvisorInput[]): this {
    return this.set(this.defaults.advisors(...parts));
  }

  defaultStopWhen(...conditions: readonly StopConditionOf<T>[]): this {
    return this.set(this.defaults.stopWhen(...conditions));
  }

  templateRenderer(renderer: TemplateRenderer): this {
    return this.set(this.defaults.templateRenderer(renderer));
  }

  price(price: PriceOfCall): this {
    return this.set(this.defaults.price(price));
  }

  /**
   * Sets where the warnings of `explain()` are logged when a client is built, each once; false for
   * nowhere. @default `console`, unless `NODE_ENV` is `production` or there is no `process`
   */
  warnings(logger: WarningLogger | false): this {
    if (logger !== false) checkOption('warnings(…)', 'logger', logger, WARNING_LOGGER);
    return this.set(new PromptSpec({ ...this.defaults.settings, warnings: new Warnings(logger) }));
  }

  /** A client with the defaults so far; the builder can build others later. */
  build(): ChatClient<T> {
    const { warnings } = this.defaults.explain(); // rejects an invalid chain now, not at the first call
    this.defaults.settings.warnings.log(warnings);
    return new ChatClient(this.defaults);
  }

  private set(defaults: PromptSpec<T>): this {
    this.defaults = defaults;
    return this;
  }
}
