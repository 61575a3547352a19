import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type Advisor,
  type ChatMemory,
  type ChatMemoryRepository,
  type MessageChatMemoryAdvisorOptions,
  type PromptSpec,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { shortTexts } from './conversation.js';

export const look = defineTool({
  name: 'look',
  input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  execute: ({ id }) => `result of ${String(id)}`,
});

/** A scripted call of {@link look}. */
export const callOf = (id: string) => ({ id, name: 'look', arguments: { id } });

/** Order of an advisor inside the tool loop. */
export const INSIDE = AdvisorOrder.TOOL_CALLING + 1;

/** A client with a memory, and its parts. */
export interface MemorySetting {
  readonly model: ScriptedChatModel;
  readonly repository: InMemoryChatMemoryRepository;
  readonly chatMemory: ChatMemory;
  readonly client: ChatClient;
}

/** Creates a client whose requests have the system message `s`. */
export function setUpMemory(
  script: Script,
  options: Partial<MessageChatMemoryAdvisorOptions> = {},
  ...advisors: readonly Advisor[]
): MemorySetting {
  const model = new ScriptedChatModel(script);
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = options.chatMemory ?? new MessageWindowChatMemory({ repository });
  const advisor = new MessageChatMemoryAdvisor({ ...options, chatMemory });
  const client = ChatClient.builder(model)
    .defaultSystem('s')
    .defaultAdvisors(advisor, ...advisors)
    .build();
  return { model, repository, chatMemory, client };
}

export function inConversation(spec: PromptSpec, id = 'c'): PromptSpec {
  return spec.advisors((a) => a.param(CONVERSATION_ID, id));
}

/** Short texts of the stored messages. */
export async function storedTexts(
  repository: ChatMemoryRepository,
  id = 'c',
): Promise<readonly string[]> {
  return shortTexts((await repository.read(id)).messages.map(({ message }) => message));
}

/** Short texts of the messages of each request to the model. */
export function sentTexts(model: ScriptedChatModel): readonly (readonly string[])[] {
  return model.prompts.map(({ messages }) => shortTexts(messages));
}

/** A memory whose methods fail with these errors. */
export function failingMemory(errors: { readonly load?: Error; readonly add?: Error }): ChatMemory {
  const memory = new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() });
  return {
    capabilities: memory.capabilities,
    get: (id) => memory.get(id),
    clear: (id) => memory.clear(id),
    load: (id) => (errors.load ? Promise.reject(errors.load) : memory.load(id)),
    add: (id, messages) => (errors.add ? Promise.reject(errors.add) : memory.add(id, messages)),
  };
}
