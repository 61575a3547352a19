/** A proposal for tools with several arguments and for steps of agents: what it asks for, as this library has it. */
import { expect } from 'chai';
import { ChatClient, defineTool, PromptedToolsModel, type Tool } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { MODES, runSpec } from '../support/modes.js';
import { FORMATS, planOf, textsOf } from '../support/prompted-tools.js';
import { sendJson } from '../support/wire-server.js';
import { useWireModel } from '../support/wire-model.js';

const PARAMETERS = {
  type: 'object',
  properties: {
    location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
  },
  required: ['location'],
};

function weatherTools(ran: unknown[]): readonly Tool[] {
  return ['get_rain_probability', 'get_current_temperature'].map((name) =>
    defineTool({
      name,
      description: 'Get the current weather in a given location',
      input: PARAMETERS,
      execute: (args) => {
        ran.push([name, args]);
        return 'ok';
      },
    }),
  );
}

/** A search tool: the text of its description, one argument with a title, an error of its own. */
const googleSearch = defineTool({
  name: 'GoogleSearch',
  description:
    'A wrapper around Google Search. Useful for when you need to answer questions about current events. Input should be a search query.',
  input: {
    type: 'object',
    properties: { query: { title: 'query', type: 'string' } },
    required: ['query'],
  },
  execute: ({ query }) => `results for ${String(query)}`,
});

describe('source: tools with several arguments', () => {
  const wire = useWireModel();

  it('sends name, description and parameters to a model with tool calling', async () => {
    wire.answer = (exchange) =>
      sendJson(exchange, { choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }] });

    await ChatClient.create(wire.model)
      .prompt('?')
      .tools(...weatherTools([]))
      .call()
      .content();

    const [exchange] = wire.server.exchanges;
    const [first] = (exchange?.body['tools'] ?? []) as readonly unknown[];
    expect(first).to.deep.equal({
      type: 'function',
      function: {
        name: 'get_rain_probability',
        description: 'Get the current weather in a given location',
        parameters: PARAMETERS,
      },
    });
  });

  it('reads several calls whose arguments are JSON text', async () => {
    const calls = [
      [
        'call_FthC9qRpsL5kBpwwyw6c7j4k',
        'get_rain_probability',
        '{"location": "San Francisco, CA"}',
      ],
      [
        'call_RpEDoB8O0FTL9JoKTuCVFOyR',
        'get_current_temperature',
        '{"location": "San Francisco, CA", "unit": "fahrenheit"}',
      ],
    ].map(([id, name, args]) => ({ id, type: 'function', function: { name, arguments: args } }));
    const answers = [{ tool_calls: calls }, { content: 'Dry.' }];
    wire.answer = (exchange) =>
      sendJson(exchange, {
        choices: [{ message: answers[exchange.index], finish_reason: 'stop' }],
      });
    const ran: unknown[] = [];

    const text = await ChatClient.create(wire.model)
      .prompt('?')
      .tools(...weatherTools(ran))
      .call()
      .content();

    expect(text).to.equal('Dry.');
    expect(ran).to.deep.equal([
      ['get_rain_probability', { location: 'San Francisco, CA' }],
      ['get_current_temperature', { location: 'San Francisco, CA', unit: 'fahrenheit' }],
    ]);
  });

  for (const format of FORMATS)
    for (const mode of MODES)
      it(`${format}, ${mode}: the same calls of a model without tool calling`, async () => {
        const ran: unknown[] = [];
        const plans = [
          planOf(format, 'get_rain_probability', { location: 'San Francisco, CA' }),
          planOf(format, 'get_current_temperature', {
            location: 'San Francisco, CA',
            unit: 'fahrenheit',
          }),
        ];
        const both =
          format === 'json'
            ? `{"tool_calls":[${plans.map((plan) => plan.slice('{"tool_calls":['.length, -2)).join()}]}`
            : plans.join('\n');
        const model = new PromptedToolsModel({
          model: new ScriptedChatModel([both, 'Dry.']),
          format,
        });

        const { text } = await runSpec(
          mode,
          ChatClient.create(model)
            .prompt('?')
            .tools(...weatherTools(ran)),
        );

        expect(text).to.equal('Dry.');
        expect(ran).to.deep.equal([
          ['get_rain_probability', { location: 'San Francisco, CA' }],
          ['get_current_temperature', { location: 'San Francisco, CA', unit: 'fahrenheit' }],
        ]);
      });

  it('accepts arguments as an object and as encoded text', async () => {
    const calls = [
      '{"name":"GoogleSearch","arguments":{"query":"a"}}',
      '{"name":"GoogleSearch","arguments":"{\\"query\\":\\"b\\"}"}',
    ];
    const plain = new ScriptedChatModel([`{"tool_calls":[${calls.join()}]}`, 'Done.']);
    const client = ChatClient.create(new PromptedToolsModel({ model: plain }));

    const { steps } = await runSpec('call', client.prompt('?').tools(googleSearch));

    expect(steps[0]?.toolCalls.map(({ result }) => result?.value)).to.deep.equal([
      'results for a',
      'results for b',
    ]);
  });

  it('a tool has a name, a description and a schema of its own', () => {
    const { name, description, inputSchema } = googleSearch.definition;

    expect(name).to.equal('GoogleSearch');
    expect(description).to.include('current events');
    expect(inputSchema).to.deep.include({ type: 'object', required: ['query'] });
  });

  it('a call without a required argument never reaches the tool', async () => {
    const plain = new ScriptedChatModel([planOf('json', 'GoogleSearch', { q: 'x' }), 'Sorry.']);
    const client = ChatClient.create(new PromptedToolsModel({ model: plain }));

    const { steps, text } = await runSpec('call', client.prompt('?').tools(googleSearch));

    expect(text).to.equal('Sorry.');
    expect(steps.flatMap(({ toolCalls }) => toolCalls)).to.deep.equal([]);
    expect(textsOf(plain.prompts[1]).at(-1)).to.include('"query"');
  });

  it('a step has the tool, its input as an object, the text before it and the id', async () => {
    const plain = new ScriptedChatModel([
      `I should search.\n${planOf('tagged', 'GoogleSearch', { query: 'news' })}`,
      'None.',
    ]);
    const client = ChatClient.create(new PromptedToolsModel({ model: plain, format: 'tagged' }));

    const { steps } = await runSpec('call', client.prompt('?').tools(googleSearch));

    const [step] = steps;
    const [record] = step?.toolCalls ?? [];
    expect(step?.response.text).to.equal('I should search.');
    expect(record?.toolName).to.equal('GoogleSearch');
    expect(JSON.parse(record?.call.arguments ?? '')).to.deep.equal({ query: 'news' });
    expect(record?.call.id).to.match(/./);
  });
});
