import type { ChatModel } from './chat-model.js';
import type { AssistantMessage, Message } from './message.js';
import type { Prompt } from './prompt.js';

/** The models that wrote the answers of a run: what only its author can read is for it alone. */
export class Authors {
  /** By message, and by its provider data, which a changed copy of it has too. */
  private readonly models = new Map<object, ChatModel>();
  private first: ChatModel | undefined;
  private hasSeveral = false;

  add(message: AssistantMessage, model: ChatModel): void {
    this.first ??= model;
    this.hasSeveral ||= this.first !== model;
    this.models.set(message, model);
    if (message.metadata) this.models.set(message.metadata, model);
  }

  /**
   * The prompt without reasoning and provider data of other models; ids are kept.
   * @param main model that has written the messages of unknown origin
   */
  fit(prompt: Prompt, model: ChatModel, main: ChatModel): Prompt {
    if (model === main && !this.hasOthers(main)) return prompt;
    return prompt.withMessages(this.fitMessages(prompt.messages, model, main));
  }

  fitMessages(
    messages: readonly Message[],
    model: ChatModel,
    main: ChatModel = model,
  ): readonly Message[] {
    if (model === main && !this.hasOthers(main)) return messages;
    return messages.map((message) =>
      message.role !== 'assistant' || (this.authorOf(message) ?? main) === model
        ? message
        : withoutProviderData(message),
    );
  }

  private hasOthers(main: ChatModel): boolean {
    return this.hasSeveral || (this.first ?? main) !== main;
  }

  private authorOf(message: AssistantMessage): ChatModel | undefined {
    return this.models.get(message) ?? this.models.get(message.metadata ?? message);
  }
}

function withoutProviderData(message: AssistantMessage): AssistantMessage {
  const { reasoning: _reasoning, metadata: _metadata, ...kept } = message;
  const toolCalls = message.toolCalls.map(({ id, name, arguments: text }) => {
    return { id, name, arguments: text };
  });
  return { ...kept, toolCalls };
}
