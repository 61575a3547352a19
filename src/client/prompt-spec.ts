import type { Advisor } from '../advisor/advisor.js';
import { explainChain, type ChainExplanation } from '../advisor/explain.js';
import type { ChatOptions } from '../chat/chat-options.js';
import type { Message } from '../chat/message.js';
import type { ToolContextInput } from '../tool/tool-context-input.js';
import type { AdvisorConfigurer } from './advisor-spec.js';
import { CallResult } from './call-result.js';
import type { ChatClientBuilder } from './chat-client-builder.js';
import * as states from './spec-state.js';
import { StreamResult } from './stream-result.js';
import type { TemplateParams } from './template.js';
import { addToolContext, addTools, type ToolInput } from './tool-state.js';

/**
 * A request under construction. Immutable: every method gives a new spec, so that one spec can be the start of many, and can be
 * called and streamed any number of times, also at the same time.
 *
 * Every setter throws an `InvalidArgumentError` at once if its argument cannot be used.
 */
export class PromptSpec {
  constructor(private readonly state: states.SpecState) {}

  /** The system text; with params it is a template. */
  system(input: states.SystemInput, params?: TemplateParams): PromptSpec {
    return new PromptSpec(states.setSystem(this.state, input, params, 'system(…)'));
  }

  /** The user's text, sent after all other messages; with params it is a template. */
  user(input: states.UserInput, params?: TemplateParams): PromptSpec {
    return new PromptSpec(states.setUser(this.state, input, params, 'user(…)'));
  }

  /** Adds messages between the system text and the user's text. */
  messages(...messages: readonly (Message | readonly Message[])[]): PromptSpec {
    return new PromptSpec(states.addMessages(this.state, messages.flat(), 'messages(…)'));
  }

  /** Options on top of those of the client, option by option. */
  options(options: ChatOptions): PromptSpec {
    return new PromptSpec(states.addOptions(this.state, options, 'options(…)'));
  }

  /** Adds tools, and providers of tools, to those of the client. */
  tools(...tools: readonly ToolInput[]): PromptSpec {
    return new PromptSpec(addTools(this.state, tools, 'tools(…)'));
  }

  /** Values for the tools, or one under a key, on top of those of the client; the model never sees them. */
  toolContext<T>(...input: ToolContextInput<T>): PromptSpec {
    return new PromptSpec(addToolContext(this.state, input, 'toolContext(…)'));
  }

  /** Adds advisors, or values for them: `advisors((a) => a.param(CONVERSATION_ID, 'anna-7'))`. */
  advisors(...parts: readonly (Advisor | AdvisorConfigurer)[]): PromptSpec {
    return new PromptSpec(states.addAdvisors(this.state, parts, 'advisors(…)'));
  }

  /** Aborting the signal cancels the runs of this spec. */
  signal(signal: AbortSignal): PromptSpec {
    return new PromptSpec(states.setSignal(this.state, signal, 'signal(…)'));
  }

  /** The answer at once. Nothing is sent before a method of the result is called. */
  call(): CallResult {
    return new CallResult(this.state);
  }

  /** The answer piece by piece. Nothing is sent before the result is subscribed or iterated. */
  stream(): StreamResult {
    return new StreamResult(this.state);
  }

  /** A builder of clients with the settings of this spec as defaults, but for the signal: it ends one request, not a client. */
  mutate(): ChatClientBuilder {
    const { signal: _signal, ...state } = this.state;
    return state.toBuilder(state);
  }

  /** What runs for this request, and in which order. */
  explain(): ChainExplanation {
    return explainChain(states.advisorsOf(this.state));
  }
}
