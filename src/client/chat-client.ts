import { explainChain, type ChainExplanation } from '../advisor/explain.js';
import type { ChatModel, ModelProvider } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import { AdvisorContext } from '../chat/context.js';
import type { Message } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { checkOption, FUNCTION, rule, TEXT, withMethods } from '../internal/options.js';
import type { ToolContextInput } from '../tool-execution/tool-context.js';
import type { AdvisorInput } from './advisor-spec.js';
import { CallResult } from './call-result.js';
import * as settings from './request-settings.js';
import { StreamResult } from './stream-result.js';
import { renderTemplate, type TemplateParams, type TemplateRenderer } from './template.js';
import { NO_TEXT } from './text-spec.js';

/** Starts requests with common defaults. Immutable and stateless; may be shared. */
export class ChatClient {
  constructor(private readonly settings: settings.RequestSettings) {}

  /**
   * Starts a request.
   * @param input the text of a user message, or a prompt whose messages and options are copied
   */
  prompt(input?: string | Prompt): PromptSpec {
    const spec = new PromptSpec(this.settings);
    if (input === undefined) return spec;
    // structural: a prompt of a second copy of this package is accepted, too
    if (typeof input === 'object' && Array.isArray(input?.messages)) {
      const withMessages = settings.addMessages(this.settings, input.messages, 'prompt(…)');
      return new PromptSpec(settings.addOptions(withMessages, input.options, 'prompt(…)'));
    }
    checkOption('prompt(…)', 'input', input, TEXT);
    return spec.messages({ role: 'user', content: input as string });
  }

  /** A builder that starts with the defaults of this client. */
  mutate(): ChatClientBuilder {
    return new ChatClientBuilder(this.settings);
  }

  /** Describes which advisors run for a request of this client, and in which order. */
  explain(): ChainExplanation {
    return new PromptSpec(this.settings).explain();
  }
}

/**
 * A request under construction. Immutable: every method returns a new spec, so one spec can be the
 * start of many and can run any number of times, also concurrently.
 *
 * Every setter throws an `InvalidArgumentError` at once if its argument is invalid.
 */
export class PromptSpec {
  constructor(private readonly settings: settings.RequestSettings) {}

  /** Sets the system text; with params it is a template. */
  system(input: settings.SystemInput, params?: TemplateParams): PromptSpec {
    return new PromptSpec(settings.setSystem(this.settings, input, params, 'system(…)'));
  }

  /** Sets the user text, sent after all other messages; with params it is a template. */
  user(input: settings.UserInput, params?: TemplateParams): PromptSpec {
    return new PromptSpec(settings.setUser(this.settings, input, params, 'user(…)'));
  }

  /** Adds messages between the system text and the user text. */
  messages(...messages: readonly (Message | readonly Message[])[]): PromptSpec {
    return new PromptSpec(settings.addMessages(this.settings, messages.flat(), 'messages(…)'));
  }

  /** Sets options on top of those of the client, option by option. */
  options(options: ChatOptions): PromptSpec {
    return new PromptSpec(settings.addOptions(this.settings, options, 'options(…)'));
  }

  /** Adds tools and tool providers to those of the client. */
  tools(...tools: readonly settings.ToolInput[]): PromptSpec {
    return new PromptSpec(settings.addTools(this.settings, tools, 'tools(…)'));
  }

  /** Adds values for the tools, or one under a key; never sent to the model. */
  toolContext<T>(...input: ToolContextInput<T>): PromptSpec {
    return new PromptSpec(settings.addToolContext(this.settings, input, 'toolContext(…)'));
  }

  /** Adds advisors, or values for them: `advisors((a) => a.param(CONVERSATION_ID, 'anna-7'))`. */
  advisors(...parts: readonly AdvisorInput[]): PromptSpec {
    return new PromptSpec(settings.addAdvisors(this.settings, parts, 'advisors(…)'));
  }

  /** Sets the signal that cancels the runs of this spec. */
  signal(signal: AbortSignal): PromptSpec {
    return new PromptSpec(settings.setSignal(this.settings, signal, 'signal(…)'));
  }

  /** Requests the complete answer. Nothing is sent until a method of the result is called. */
  call(): CallResult {
    return new CallResult(this.settings);
  }

  /** Requests a streamed answer. Nothing is sent until the result is subscribed or iterated. */
  stream(): StreamResult {
    return new StreamResult(this.settings);
  }

  /** A builder of clients with the settings of this spec as defaults, without its signal. */
  mutate(): ChatClientBuilder {
    const { signal: _signal, ...defaults } = this.settings;
    return new ChatClientBuilder(defaults);
  }

  /** Describes which advisors run for this request, and in which order. */
  explain(): ChainExplanation {
    return explainChain(settings.advisorsOf(this.settings));
  }
}

/** Collects the defaults of a {@link ChatClient}. Setters throw at once on an invalid argument. */
export class ChatClientBuilder {
  constructor(private settings: settings.RequestSettings) {}

  /** A builder without defaults. */
  static of(model: ChatModel, toolLoop: settings.ToolLoopFactory): ChatClientBuilder {
    checkOption('ChatClient', 'model', model, CHAT_MODEL);
    if (model.provider !== undefined)
      checkOption('ChatClient', 'provider of the model', model.provider, PROVIDER);
    return new ChatClientBuilder({
      model,
      toolLoop,
      renderer: renderTemplate,
      system: NO_TEXT,
      user: NO_TEXT,
      messages: [],
      options: model.defaultOptions,
      tools: [],
      providers: [],
      toolContext: {},
      advisors: [],
      params: AdvisorContext.empty,
      chains: new settings.ChainCache(),
    });
  }

  defaultSystem(input: settings.SystemInput, params?: TemplateParams): this {
    return this.set(settings.setSystem(this.settings, input, params, 'defaultSystem(…)'));
  }

  defaultUser(input: settings.UserInput, params?: TemplateParams): this {
    return this.set(settings.setUser(this.settings, input, params, 'defaultUser(…)'));
  }

  defaultMessages(...messages: readonly (Message | readonly Message[])[]): this {
    return this.set(settings.addMessages(this.settings, messages.flat(), 'defaultMessages(…)'));
  }

  defaultOptions(options: ChatOptions): this {
    return this.set(settings.addOptions(this.settings, options, 'defaultOptions(…)'));
  }

  defaultTools(...tools: readonly settings.ToolInput[]): this {
    return this.set(settings.addTools(this.settings, tools, 'defaultTools(…)'));
  }

  defaultToolContext<T>(...input: ToolContextInput<T>): this {
    return this.set(settings.addToolContext(this.settings, input, 'defaultToolContext(…)'));
  }

  defaultAdvisors(...parts: readonly AdvisorInput[]): this {
    return this.set(settings.addAdvisors(this.settings, parts, 'defaultAdvisors(…)'));
  }

  /** Sets how params are put into texts. @default `{name}` is replaced by its value */
  templateRenderer(renderer: TemplateRenderer): this {
    checkOption('templateRenderer(…)', 'renderer', renderer, FUNCTION);
    return this.set({ ...this.settings, renderer });
  }

  /** A client with the defaults so far; the builder can go on and build others. */
  build(): ChatClient {
    const defaults = { ...this.settings, chains: new settings.ChainCache() };
    defaults.chains.of(defaults); // reports an invalid chain now, not at the first call
    return new ChatClient(defaults);
  }

  private set(changed: settings.RequestSettings): this {
    this.settings = changed;
    return this;
  }
}

const CHAT_MODEL = withMethods('a chat model with call and stream', 'call', 'stream');
const PROVIDER = rule('an object with a name', (value) => {
  const name: unknown = (value as Partial<ModelProvider> | null)?.name;
  return typeof value === 'object' && TEXT.accepts(name);
});
