import type { Advisor } from '../advisor/advisor.js';
import type { ChatModel, ModelProvider } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import { AdvisorContext } from '../chat/context.js';
import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import type { ToolContextInput } from '../tool/tool-context-input.js';
import type { AdvisorConfigurer } from './advisor-spec.js';
import { ChatClient } from './chat-client.js';
import * as states from './spec-state.js';
import { NO_TEXT } from './text-spec.js';
import { renderTemplate, type TemplateParams, type TemplateRenderer } from './template.js';
import { addToolContext, addTools, type ToolInput } from './tool-state.js';

/** Collects the defaults of a {@link ChatClient}. Every setter throws at once if its argument cannot be used. */
export class ChatClientBuilder {
  constructor(private state: states.SpecState) {}

  defaultSystem(input: states.SystemInput, params?: TemplateParams): this {
    return this.set(states.setSystem(this.state, input, params, 'defaultSystem(…)'));
  }

  defaultUser(input: states.UserInput, params?: TemplateParams): this {
    return this.set(states.setUser(this.state, input, params, 'defaultUser(…)'));
  }

  defaultMessages(...messages: readonly (Message | readonly Message[])[]): this {
    return this.set(states.addMessages(this.state, messages.flat(), 'defaultMessages(…)'));
  }

  defaultOptions(options: ChatOptions): this {
    return this.set(states.addOptions(this.state, options, 'defaultOptions(…)'));
  }

  defaultTools(...tools: readonly ToolInput[]): this {
    return this.set(addTools(this.state, tools, 'defaultTools(…)'));
  }

  defaultToolContext<T>(...input: ToolContextInput<T>): this {
    return this.set(addToolContext(this.state, input, 'defaultToolContext(…)'));
  }

  defaultAdvisors(...parts: readonly (Advisor | AdvisorConfigurer)[]): this {
    return this.set(states.addAdvisors(this.state, parts, 'defaultAdvisors(…)'));
  }

  /** How params are put into texts. @default `{name}` is replaced by its value */
  templateRenderer(renderer: TemplateRenderer): this {
    if (typeof renderer !== 'function')
      throw new InvalidArgumentError(`templateRenderer(…): expected a function, not ${describe(renderer)}`);
    return this.set({ ...this.state, renderer });
  }

  /** A client with the defaults so far; the builder can go on and build others. */
  build(): ChatClient {
    const state = { ...this.state, chains: new states.ChainCache() };
    state.chains.of(state); // advisors that do not make a chain are refused here, not at the first call
    return new ChatClient(state);
  }

  private set(state: states.SpecState): this {
    this.state = state;
    return this;
  }
}

/** A builder without defaults. */
export function chatClientBuilder(model: ChatModel, toolLoop: states.ToolLoopFactory): ChatClientBuilder {
  if (typeof model?.call !== 'function' || typeof model.stream !== 'function') {
    throw new InvalidArgumentError(`ChatClient: expected a chat model with call and stream, not ${describe(model)}`);
  }
  const provider: unknown = model.provider;
  if (provider !== undefined && !isProvider(provider)) {
    throw new InvalidArgumentError(`ChatClient: provider of a model must be an object with a name, not ${describe(provider)}`);
  }
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
    chains: new states.ChainCache(),
    toBuilder: (state) => new ChatClientBuilder(state),
  });
}

function isProvider(value: unknown): boolean {
  const name: unknown = (value as Partial<ModelProvider> | null)?.name;
  return typeof value === 'object' && typeof name === 'string' && name.trim() !== '';
}
