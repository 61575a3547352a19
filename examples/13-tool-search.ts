// Tool search: 540 tools, of which the model sees a handful.
import {
  ChatClient,
  defineTool,
  KeywordToolIndex,
  ToolSearchAdvisor,
  type Tool,
} from '../src/index.js';
import { OfflineChatModel } from '../src/testing/index.js';

const THINGS =
  'account address agenda article booking branch budget calendar campaign chapter comment contact contract coupon course customer ' +
  'delivery document employee event expense flight folder invoice issue lesson listing meeting message note order parcel patient payment ' +
  'permit playlist product project property quote receipt recipe release report reservation role route schedule shipment';
const VERBS = [
  'get',
  'list',
  'create',
  'update',
  'delete',
  'archive',
  'share',
  'export',
  'copy',
  'rename',
  'restore',
];

/** Tools of a large company: one per noun and verb. */
const tools: readonly Tool[] = THINGS.split(' ').flatMap((thing) =>
  VERBS.map((verb) =>
    defineTool({
      name: `${verb}_${thing}`,
      description: `Can ${verb} one ${thing} of the user.`,
      category: thing,
      input: {
        type: 'object',
        properties: { name: { type: 'string', description: `Name of the ${thing}.` } },
        required: ['name'],
      },
      execute: ({ name }) => `${verb} ${thing} ${String(name)}: done`,
    }),
  ),
);
const clock = defineTool({
  name: 'get_time',
  description: 'The time now.',
  alwaysLoaded: true,
  execute: () => '12:00',
});

const client = ChatClient.builder(new OfflineChatModel())
  .defaultTools(tools, clock)
  .defaultAdvisors(new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), maxResults: 3 }))
  .build();
console.log(`${tools.length + 1} tools`);

async function ask(question: string): Promise<void> {
  const events = client.prompt(question).conversation('anna-7').stream().events();
  console.log(`\n> ${question}`);
  await events.forEach((event) => {
    if (event.type === 'tool-call')
      console.log(`  calls ${event.call.name} ${event.call.arguments}`);
    if (event.type === 'tool-result' && event.result.unlocks)
      console.log(`  found ${event.result.unlocks.join(', ')}`);
    if (event.type === 'response')
      console.log(
        `  ${event.response.text} (${event.response.usage?.inputTokens} tokens in all requests)`,
      );
  });
}

await ask('Archive the invoice "March".');
await ask('Export the playlist "Summer".');
// tools found in the first turn are offered again: no search
await ask('Archive the invoice "April".');
