// Tools from the methods of a class: they share the state of their object.
import { z } from 'zod';
import { ChatClient, textOf, Tool, toolsFrom, type ToolContext } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

class Basket {
  readonly #items: string[] = [];

  @Tool({
    description: 'Puts something into the basket.',
    input: z.object({ item: z.string() }),
    effect: 'write',
  })
  add({ item }: { item: string }, { call }: ToolContext): string {
    this.#items.push(item);
    return `${item} is in the basket (call ${call.id})`;
  }

  @Tool({ description: 'What is in the basket.', effect: 'read' })
  list(): readonly string[] {
    return this.#items;
  }

  @Tool({
    name: 'price_of',
    description: 'Price of an item in euros.',
    input: z.object({ item: z.string() }),
    effect: 'read',
  })
  static price({ item }: { item: string }): number {
    return item.length;
  }
}

const tools = toolsFrom(new Basket());
console.log(
  `tools: ${tools.map(({ definition: { name, description } }) => `${name} (${description})`).join(', ')}`,
);

const batches = [
  [
    { id: 'add_lamp', name: 'add', arguments: { item: 'lamp' } },
    { id: 'add_cable', name: 'add', arguments: { item: 'cable' } },
  ],
  [
    { id: 'list_all', name: 'list', arguments: {} },
    { id: 'price_lamp', name: 'price_of', arguments: { item: 'lamp' } },
  ],
];

// two iterations with tools, then an answer with their results
const model = new ScriptedChatModel(({ messages }, index) => {
  const toolCalls = batches[index];
  return toolCalls
    ? { toolCalls }
    : messages
        .flatMap((message) => (message.role === 'tool' ? [textOf(message.content)] : []))
        .join('\n');
});

console.log(
  await ChatClient.create(model).prompt('Order a lamp with a cable.').tools(tools).call().content(),
);
