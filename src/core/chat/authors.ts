import type { ChatModel } from './chat-model.js';
import type { ChatResponse } from './chat-response.js';
import type { AssistantMessage, Message } from './message.js';
import type { Prompt } from './prompt.js';

/**
 * The other models that wrote answers of a run, besides the model of its chain: provider data is
 * sent back to its author only.
 */
export class Authors {
  /** By message, and by its provider data, which a changed copy of it has too. */
  private others: Map<object, ChatModel> | undefined;

  add({ generations }: ChatResponse, model: ChatModel): void {
    this.others ??= new Map();
    for (const { message } of generations)
      this.others.set(message, model).set(message.metadata ?? message, model);
  }

  /** Gives an edited copy the author of the original. */
  inherit(message: AssistantMessage, copy: AssistantMessage): void {
    const author = this.authorOf(message);
    if (author) this.others?.set(copy, author).set(copy.metadata ?? copy, author);
  }

  /**
   * The prompt without reasoning and provider data of models other than the reader; ids are kept.
   * @param reader undefined if it is the model of the chain, which wrote messages of unknown origin
   */
  fit(prompt: Prompt, reader?: ChatModel): Prompt {
    if (!reader && !this.others) return prompt;
    return prompt.withMessages(this.fitMessages(prompt.messages, reader));
  }

  fitMessages(messages: readonly Message[], reader?: ChatModel): readonly Message[] {
    return messages.map((message) =>
      message.role !== 'assistant' || this.authorOf(message) === reader
        ? message
        : withoutProviderData(message),
    );
  }

  private authorOf(message: AssistantMessage): ChatModel | undefined {
    return this.others?.get(message) ?? this.others?.get(message.metadata ?? message);
  }
}

function withoutProviderData(message: AssistantMessage): AssistantMessage {
  const { reasoning: _reasoning, metadata: _metadata, ...kept } = message;
  const toolCalls = message.toolCalls?.map(({ id, name, arguments: text }) => {
    return { id, name, arguments: text };
  });
  return { ...kept, ...(toolCalls && { toolCalls }) };
}
