// Tool results: progress, a short text for the model with the whole value for the application, and images.
import { ChatClient, defineTool, textOf, toolResult } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const build = defineTool({
  name: 'build',
  description: 'Builds the project.',
  execute: async function* () {
    yield 'compiling';
    yield 'testing';
    yield { green: true, log: '… 2,000 lines …' };
  },
  // the application gets the whole value, the model one word
  toModelOutput: (value) => (value as { green: boolean }).green,
});

const chart = defineTool({
  name: 'chart',
  description: 'A chart of the last builds.',
  // a value is text for the model; media are asked for
  execute: () =>
    toolResult({
      content: [
        { type: 'text', text: 'The last builds:' },
        { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
      ],
      value: { builds: 3 },
    }),
});

const model = new ScriptedChatModel([
  { toolCalls: [{ name: 'build', arguments: {} }] },
  { toolCalls: [{ name: 'chart', arguments: {} }] },
  'All is well.',
]);

await ChatClient.create(model)
  .prompt('Build it.')
  .tools(build, chart)
  .stream()
  .events()
  .forEach((event) => {
    if (event.type === 'tool-progress') console.log(`progress  ${String(event.data)}`);
    else if (event.type === 'response') console.log(`answer    ${event.response.text}`);
    else if (event.type === 'tool-result') {
      const { content, value } = event.result;
      const parts = typeof content === 'string' ? ['text'] : content.map((part) => part.type);
      console.log(
        `result    model: ${textOf(content)} [${parts.join(', ')}]  application: ${JSON.stringify(value)}`,
      );
    }
  });
