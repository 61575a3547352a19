import type { ChainExplanation } from '../advisor/explain.js';
import type { Prompt } from '../chat/prompt.js';
import { requireText } from './arguments.js';
import type { ChatClientBuilder } from './chat-client-builder.js';
import { PromptSpec } from './prompt-spec.js';
import { addMessages, addOptions, type SpecState } from './spec-state.js';

/** Starts requests with common defaults. Immutable, keeps no state of a request, and may be shared. */
export class ChatClient {
  constructor(private readonly state: SpecState) {}

  /**
   * Starts a request.
   * @param input the text of a user message, or a prompt whose messages and options are taken over
   */
  prompt(input?: string | Prompt): PromptSpec {
    if (input === undefined) return new PromptSpec(this.state);
    if (isPrompt(input))
      return new PromptSpec(addOptions(addMessages(this.state, input.messages, 'prompt(…)'), input.options, 'prompt(…)'));
    requireText(input, 'prompt(…)');
    return new PromptSpec(addMessages(this.state, [{ role: 'user', content: input }], 'prompt(…)'));
  }

  /** A builder with the defaults of this client. */
  mutate(): ChatClientBuilder {
    return this.state.toBuilder(this.state);
  }

  /** What runs for a request of this client, and in which order. */
  explain(): ChainExplanation {
    return new PromptSpec(this.state).explain();
  }
}

/** Not by its class: a prompt of another copy of this package is a prompt too. */
function isPrompt(input: string | Prompt): input is Prompt {
  return typeof input === 'object' && Array.isArray(input?.messages);
}
