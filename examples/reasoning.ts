// Tags of reasoning in an answer, split over deltas, become reasoning; the question is read twice.
import { ChatClient, ReasoningExtractor, ReReadingAdvisor } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const model = new ScriptedChatModel([
  {
    text: '<think>2 cans of 3 are 6, and 5.</think>\n\nHe has 11.',
    deltas: ['<th', 'ink>2 cans of 3 ', 'are 6, and 5.</', 'think>\n', '\nHe has', ' 11.'],
  },
]);
const client = ChatClient.builder(model)
  .defaultAdvisors(new ReReadingAdvisor(), new ReasoningExtractor())
  .build();

const spec = client.prompt('Roger has 5 balls and buys 2 cans of 3. How many has he now?');
for await (const event of spec.stream().events()) {
  if (event.type === 'reasoning-delta') console.log(`thinks  ${event.text}`);
  if (event.type === 'text-delta') console.log(`answers ${event.text}`);
  if (event.type === 'response') console.log('message', event.response.message.reasoning);
}
console.log(model.prompts[0]?.userMessage?.content);
