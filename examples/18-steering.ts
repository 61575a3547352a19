// Messages into a turn that runs: one follows the results of the tools, one interrupts, one waits for the next turn.
import {
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  SteeringAdvisor,
  SteeringInbox,
  textOf,
  type SteeringMode,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const inbox = new SteeringInbox();
const repository = new InMemoryChatMemoryRepository();

/** A user types while the agent works. */
async function send(text: string, mode: SteeringMode): Promise<void> {
  console.log(`user:    ${text} (${mode})`);
  const outcome = await inbox.send(text, { mode });
  console.log(`outcome: ${text} ${JSON.stringify(outcome)}`);
}

const search = defineTool({
  name: 'search_hotels',
  effect: 'read',
  execute: (_args, { signal }) => {
    console.log('tool:    search_hotels');
    void send('I prefer a hostel.', 'steer');
    return signal.aborted ? '' : '3 hotels';
  },
});
const compare = defineTool({
  name: 'compare_prices',
  execute: (_args, { signal }) =>
    new Promise(() => {
      signal.addEventListener('abort', () => console.log('tool:    compare_prices cancelled'));
      void send('Write to my mother afterwards.', 'queue');
      void send('Never mind the price.', 'interrupt');
    }),
});

const model = new ScriptedChatModel([
  { toolCalls: [{ name: 'search_hotels' }] },
  { toolCalls: [{ name: 'compare_prices' }] },
  'Take the hostel at the station.',
  'The letter is written.',
]);
const client = ChatClient.builder(model)
  .defaultTools(search, compare)
  .defaultAdvisors(
    new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }),
    new SteeringAdvisor({ inbox }),
    (a) => a.param(CONVERSATION_ID, 'anna-7'),
  )
  .build();

console.log(`answer:  ${await client.prompt('Find a room in Rome.').call().content()}`);

const waiting = inbox.takeDeferred();
const next = client.prompt().messages(...waiting);
console.log(`answer:  ${await next.call().content()}`);

for (const { message } of (await repository.read('anna-7')).messages)
  console.log(`stored:  ${message.role} ${textOf(message)}`);
