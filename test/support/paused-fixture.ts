import {
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type ChatMemory,
  type PausedTurn,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { decideAll, SECRET } from './paused-turns.js';

/** The frozen state of format version 1. */
export const FIXTURE = new URL('../fixtures/paused-turn-v1.json', import.meta.url);

const input = { type: 'object', properties: { amount: { type: 'number' } } } as const;
const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
const memories = new WeakMap<ChatClient, ChatMemory>();

/** The memory of a client of {@link payingClient}. */
export const memoryOf = (client: ChatClient): ChatMemory => memories.get(client) as ChatMemory;

/** A client with a memory that looks up an account, and asks before it pays. */
export function payingClient(script: readonly ScriptedAnswer[]) {
  const ran: string[] = [];
  const tool = (name: string, effect: 'read' | 'write'): Tool =>
    defineTool({
      name,
      effect,
      input,
      execute: (args) => (ran.push(`${name} ${JSON.stringify(args)}`), `${name} done`),
    });
  const model = new ScriptedChatModel(
    script.map((answer) => (typeof answer === 'string' ? { text: answer, usage } : answer)),
  );
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository });
  const pause = { secrets: SECRET, store: new InMemoryKeyValueStore(), ttl: 1e12 };
  const client = ChatClient.builder(model)
    .defaultSystem('You pay.')
    .defaultTools(tool('look', 'read'), tool('pay', 'write'))
    .defaultAdvisors(new ApprovalAdvisor({ pause }), new MessageChatMemoryAdvisor({ chatMemory }))
    .build();
  memories.set(client, chatMemory);
  return { client, ran, prompts: () => model.prompts.length };
}

/** A turn of this package in the place of the fixture. */
export async function pausedTwice(): Promise<PausedTurn> {
  const asks = (id: string, amount: number) => ({ id, name: 'pay', arguments: { amount } });
  const { client } = payingClient([
    { toolCalls: [{ id: 'c1', name: 'look' }, asks('c2', 5)], usage },
    { toolCalls: [asks('c3', 6)], usage },
  ]);
  const first = await client
    .prompt('Pay 5 and 6')
    .advisors((each) => each.param(CONVERSATION_ID, 'anna-7'))
    .call()
    .chatResponse();
  const { state } = first.paused as PausedTurn;
  const second = await client.resume(state, decideAll(first)).call().chatResponse();
  return second.paused as PausedTurn;
}
