import type { ChatModel } from './chat-model.js';
import type { AssistantMessage, Message } from './message.js';
import type { Prompt } from './prompt.js';

/**
 * The other models that wrote answers of a run, besides that of its chain: what only its author can
 * read is for it alone.
 */
export class Authors {
  /** By message, and by its provider data, which a changed copy of it has too. */
  private others: Map<object, ChatModel> | undefined;

  add(message: AssistantMessage, model: ChatModel): void {
    this.others ??= new Map();
    this.others.set(message, model);
    if (message.metadata) this.others.set(message.metadata, model);
  }

  /**
   * The prompt without reasoning and provider data of other models; ids are kept.
   * @param main model that has written the messages of unknown origin
   */
  fit(prompt: Prompt, model: ChatModel, main: ChatModel): Prompt {
    if (model === main && !this.others) return prompt;
    return prompt.withMessages(this.fitMessages(prompt.messages, model, main));
  }

  fitMessages(
    messages: readonly Message[],
    model: ChatModel,
    main: ChatModel = model,
  ): readonly Message[] {
    if (model === main && !this.others) return messages;
    return messages.map((message) =>
      message.role !== 'assistant' || (this.authorOf(message) ?? main) === model
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
  const toolCalls = message.toolCalls.map(({ id, name, arguments: text }) => {
    return { id, name, arguments: text };
  });
  return { ...kept, toolCalls };
}
