import {
  ChatClient,
  CONVERSATION_ID,
  ConversationLockAdvisor,
  defineTool,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetryAdvisor,
  ToolLedgerAdvisor,
  type ChatMemoryRepository,
  type KeyValueStore,
} from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { codeOf } from './fleet-load.js';
import { questionText, turnIdOf, type FleetQuestion } from './fleet-turns.js';

/** Milliseconds before a failed turn is repeated. */
const PAUSE = 100;

/** Turns that are not durable, of an application that repeats those that fail, with their ids. */
export class PlainLoad {
  /** Ids of the tool calls that ran. */
  readonly effects: string[] = [];
  /** Errors of turns, by code; of errors without one, the message. */
  readonly failures: Record<string, number> = {};
  readonly answers = new Map<string, string>();
  private readonly client: ChatClient;

  constructor(modelURL: string, repository: ChatMemoryRepository, store: KeyValueStore) {
    const book = defineTool({
      name: 'book',
      description: 'Books something.',
      input: { type: 'object', properties: { what: { type: 'string' } } },
      effect: 'write',
      execute: (_, { call }) => (this.effects.push(call.id), 'booked'),
    });
    const chatMemory = new MessageWindowChatMemory({ repository, maxMessages: 200 });
    this.client = ChatClient.builder(
      new OpenAIChatModel({ model: 'm', apiKey: 'k', baseURL: modelURL }),
    )
      .defaultTools(book)
      .defaultAdvisors(
        new ConversationLockAdvisor({ store, lease: 1000 }),
        new MessageChatMemoryAdvisor({ chatMemory }),
        new ToolLedgerAdvisor({ store, lease: 1000 }),
        new RetryAdvisor({ maxRetries: 5, firstDelay: 100 }),
      )
      .build();
  }

  /** Runs the turns of each conversation one after another, and conversations at once. */
  async run(questions: readonly FleetQuestion[]): Promise<void> {
    const conversations = new Map<string, FleetQuestion[]>();
    for (const question of questions)
      conversations.set(question.conversation, [
        ...(conversations.get(question.conversation) ?? []),
        question,
      ]);
    await Promise.all(
      [...conversations.values()].map(async (own) => {
        for (const question of own) await this.runUntilAnswered(question);
      }),
    );
  }

  private async runUntilAnswered(question: FleetQuestion): Promise<void> {
    for (;;) {
      try {
        return await this.runOnce(question);
      } catch (error) {
        const code = codeOf(error);
        this.failures[code] = (this.failures[code] ?? 0) + 1;
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
  }

  private async runOnce(question: FleetQuestion): Promise<void> {
    const text = await this.client
      .prompt(questionText(question))
      .turnId(turnIdOf(question))
      .advisors((advisors) => advisors.param(CONVERSATION_ID, question.conversation))
      .call()
      .content();
    this.answers.set(turnIdOf(question), text ?? '');
  }
}
