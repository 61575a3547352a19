// Which advisor changed what the model got: an inspector has it as data, and shows it on a page with `--page`, until Ctrl-C.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  priceTable,
} from '../src/index.js';
import { toNodeHandler } from '../src/bridges/http/index.js';
import { Inspector, inspectorHandler } from '../src/bridges/inspector/index.js';
import { OfflineChatModel } from '../src/testing/index.js';

const getWeather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city.',
  input: z.object({ city: z.string() }),
  effect: 'read',
  execute: ({ city }) => `${city}: 24 °C`,
});
const tone = defineAdvisor({
  name: 'tone',
  order: 6_500,
  before: (request) =>
    request.withPrompt(
      request.prompt.augmentSystemMessage((text) => `${text} Answer in one line.`),
    ),
});

const inspector = new Inspector();
const chatMemory = new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() });
const client = ChatClient.builder(new OfflineChatModel())
  .defaultSystem('You know the weather.')
  .defaultTools(getWeather)
  .defaultAdvisors(inspector, new MessageChatMemoryAdvisor({ chatMemory }), tone)
  .price(priceTable({ offline: { input: 1.25, output: 10 } }))
  .build();

for (const question of ['Hello!', 'What is the weather in Rome?'])
  await client.prompt(question).conversation('anna-7').call().content();

const turn = inspector.turn(inspector.turns().at(-1)?.id ?? '');
for (const { iteration, messages, steps } of turn?.requests ?? []) {
  console.log(`iteration ${iteration} got ${messages.length} messages`);
  for (const { advisor, changes } of steps)
    if (changes.length > 0)
      console.log(`  ${advisor}: ${changes.map(({ type }) => type).join(', ')}`);
}
for (const { model, usage, cost } of turn?.ledger ?? [])
  console.log(`${model} read ${usage?.inputTokens} tokens, which cost ${cost?.toFixed(6)}`);

const file = JSON.stringify(await inspector.export());
console.log(`opened in another inspector: ${new Inspector().import(file).length} turns`);

if (process.argv.includes('--page')) {
  const page = inspectorHandler(inspector, { client });
  const answer = toNodeHandler(page);
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    console.log(`http://127.0.0.1:${port}/?token=${page.token}`);
  });
}
