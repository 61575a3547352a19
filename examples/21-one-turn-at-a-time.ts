// Two tabs of one conversation: turns run one after the other, or the newer one wins; model calls keep to a limit per minute.
import {
  CancelledError,
  ChatClient,
  ConversationLockAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RateLimitAdvisor,
  RateLimitError,
  type PromptSpec,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

// with several processes: a SqliteKeyValueStore, PostgresKeyValueStore or RedisKeyValueStore
const store = new InMemoryKeyValueStore();
const repository = new InMemoryChatMemoryRepository();
const model = new ScriptedChatModel(({ messages }) => ({
  text: `I have read ${messages.length} messages.`,
  delay: 20,
}));

const client = ChatClient.builder(model)
  .defaultAdvisors(
    new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }),
    new RateLimitAdvisor({ requestsPerMinute: 4, maxWait: 1_000, store }),
  )
  .build();
const inConversation = (spec: PromptSpec): PromptSpec => spec.conversation('anna');

// both tabs ask at the same time: the second one reads the answer to the first
const waiting = client.mutate().defaultAdvisors(new ConversationLockAdvisor({ store })).build();
const answers = await Promise.all(
  ['first tab', 'second tab'].map((question) =>
    inConversation(waiting.prompt(question)).call().content(),
  ),
);
console.log(`wait:      ${answers.join(' ')}`);

// the user changes the question while the answer is written: the newer turn takes its place
const lock = new ConversationLockAdvisor({ store, onBusy: 'interrupt' });
const interrupting = client.mutate().defaultAdvisors(lock).build();
const older = inConversation(interrupting.prompt('to Rome'))
  .call()
  .content()
  .catch((error: unknown) => {
    if (!(error instanceof CancelledError)) throw error;
    return `cancelled: ${(error.cause as Error).message}`;
  });
const newer = inConversation(interrupting.prompt('no, to Oslo')).call().content();
console.log(`older:     ${await older}`);
console.log(`newer:     ${await newer}`);

// a turn that would have to wait for longer than maxWait fails
for (;;)
  try {
    await client.prompt('?').conversation('ben').call().content();
  } catch (error) {
    if (!(error instanceof RateLimitError)) throw error;
    console.log(`limit:     ${error.value} ${error.limit} per minute of "${error.key}"`);
    break;
  }
