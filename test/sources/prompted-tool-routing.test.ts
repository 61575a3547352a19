/** A routing of tools by prompt, written by hand for models without tool calling: what it does, as this library does it. */
import { expect } from 'chai';
import { z } from 'zod';
import {
  CancelledError,
  ChatClient,
  defineTool,
  KeywordToolIndex,
  Prompt,
  PromptedToolsModel,
  textOf,
  ToolCallingAdvisor,
  ToolOutputError,
  ToolSearchAdvisor,
  type Message,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { planOf, textsOf } from '../support/prompted-tools.js';

const addNumbers = defineTool({
  name: 'addNumbers',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});
const ADD = planOf('json', 'addNumbers', { a: 2, b: 2 });

function plainModel(script: Script) {
  const plain = new ScriptedChatModel(script);
  return { plain, model: new PromptedToolsModel({ model: plain }) };
}

describe('source: tool routing by prompt', () => {
  for (const mode of MODES) {
    it(`${mode}: plans to use a tool if one is relevant: What is 2+2?`, async () => {
      const { model } = plainModel([ADD, '4']);

      const { steps, text } = await runSpec(
        mode,
        ChatClient.create(model).prompt('What is 2+2?').tools(addNumbers),
      );

      const calls = steps.flatMap(({ toolCalls }) => toolCalls);
      expect(
        calls.map(({ call }) => ({
          name: call.name,
          parameters: JSON.parse(call.arguments) as unknown,
        })),
      ).to.deep.equal([{ name: 'addNumbers', parameters: { a: 2, b: 2 } }]);
      expect(calls[0]?.result?.value).to.deep.equal({ sum: 4 });
      expect(text).to.equal('4');
    });

    it(`${mode}: goes through several cycles, where a call needs the result of another`, async () => {
      const geocode = defineTool({
        name: 'geocode',
        description: 'Coordinates of a place.',
        input: z.object({ place: z.string() }),
        execute: () => ({ lat: 40.7, lon: -74 }),
      });
      const weather = defineTool({
        name: 'weather',
        description: 'Weather at coordinates.',
        input: z.object({ lat: z.number(), lon: z.number() }),
        execute: ({ lat, lon }) => `sunny at ${lat},${lon}`,
      });
      const { model, plain } = plainModel([
        planOf('json', 'geocode', { place: 'New York' }),
        planOf('json', 'weather', { lat: 40.7, lon: -74 }),
        'It is sunny in New York.',
      ]);

      const { text } = await runSpec(
        mode,
        ChatClient.create(model).prompt("What's the weather in New York?").tools(geocode, weather),
      );

      expect(text).to.equal('It is sunny in New York.');
      expect(textsOf(plain.prompts[2]).at(-1)).to.include('"sunny at 40.7,-74"');
    });

    it(`${mode}: ends after a maximum number of cycles`, async () => {
      const { model, plain } = plainModel(() => ADD);
      const spec = ChatClient.create(model)
        .prompt('?')
        .tools(addNumbers)
        .advisors(new ToolCallingAdvisor({ maxIterations: 2, onLimit: 'throw' }));

      expect(await failureOf(runSpec(mode, spec))).to.include({ limit: 'iterations', value: 2 });
      expect(plain.prompts).to.have.lengthOf(2);
    });
  }

  it('describes tools as JSON: description, name and the JSON Schema of the parameters', async () => {
    const { model, plain } = plainModel(['?']);
    const now = defineTool({ name: 'now', description: 'The time.', execute: () => 1 });

    await ChatClient.create(model).prompt('?').tools(addNumbers, now).call().content();

    const lines = (textsOf(plain.prompts[0])[0] ?? '')
      .split('\n')
      .filter((line) => line[0] === '{');
    const [add, time] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(add).to.have.all.keys('name', 'description', 'parameters');
    expect(add).to.have.nested.property('parameters.properties.a.type', 'number');
    expect(time).to.deep.include({ name: 'now', description: 'The time.' });
  });

  it('gives the model the history of the conversation, with earlier calls and their results', async () => {
    const { model, plain } = plainModel(['?']);
    const messages: readonly Message[] = [
      { role: 'user', content: 'What is 2+2?' },
      {
        role: 'assistant',
        content: null,
        toolCalls: [{ id: '1', name: 'addNumbers', arguments: '{"a":2,"b":2}' }],
      },
      { role: 'tool', toolCallId: '1', toolName: 'addNumbers', content: '{"sum":4}' },
      { role: 'assistant', content: 'Four.' },
      { role: 'user', content: 'And plus 1?' },
    ];

    await model.call(new Prompt(messages, { tools: [addNumbers] }));

    expect(textsOf(plain.prompts[0]).slice(1)).to.deep.equal([
      'What is 2+2?',
      ADD,
      '{"tool_results": [{"name": "addNumbers", "result": {"sum":4}}]}',
      'Four.',
      'And plus 1?',
    ]);
  });

  it('uses the same tool several times in one plan', async () => {
    const two = ADD.replace(']', ',{"name":"addNumbers","parameters":{"a":1,"b":1}}]');
    const { model } = plainModel([two, 'Done.']);

    const { steps } = await runSpec('call', ChatClient.create(model).prompt('?').tools(addNumbers));

    const [first] = steps;
    expect(first?.toolCalls.map(({ result }) => result?.value)).to.deep.equal([
      { sum: 4 },
      { sum: 2 },
    ]);
  });

  it('calls a tool without parameters with null', async () => {
    const now = defineTool({ name: 'now', execute: () => 'noon' });
    const { model } = plainModel(['{"tool_calls":[{"name":"now","parameters":null}]}', 'Noon.']);

    const { steps } = await runSpec('call', ChatClient.create(model).prompt('?').tools(now));

    expect(steps[0]?.toolCalls[0]?.result?.value).to.equal('noon');
  });

  it('answers if no tool is necessary: an empty plan', async () => {
    const { model, plain } = plainModel(['{"tool_calls": []}', 'Hello!']);

    const text = await ChatClient.create(model).prompt('Hi').tools(addNumbers).call().content();

    expect(text).to.equal('Hello!');
    expect(textsOf(plain.prompts[1]).at(-1)).to.include(
      'no tool is called, and there is no answer',
    );
  });

  it('checks a plan against its schema', async () => {
    const { model, plain } = plainModel(['{"tool_calls": "addNumbers"}', ADD, 'Four.']);

    const text = await ChatClient.create(model).prompt('?').tools(addNumbers).call().content();

    expect(text).to.equal('Four.');
    expect(textsOf(plain.prompts[1]).at(-1)).to.include('a call must be an object');
  });

  it('streams the answer after the calls, of which nothing is shown', async () => {
    const { model } = plainModel([ADD, 'It is four.']);
    const pieces: string[] = [];

    for await (const piece of ChatClient.create(model).prompt('?').tools(addNumbers).stream())
      pieces.push(piece);

    expect(pieces).to.deep.equal(['It', ' is', ' four.']);
  });

  it('checks the result of a tool against its schema', async () => {
    const wrong = defineTool({
      name: 'addNumbers',
      input: z.object({ a: z.number(), b: z.number() }),
      output: { type: 'object', properties: { sum: { type: 'number' } } },
      execute: () => ({ sum: 'four' }),
    });
    const { model, plain } = plainModel([ADD, 'I cannot add.']);

    const { steps } = await runSpec('call', ChatClient.create(model).prompt('?').tools(wrong));

    expect(steps[0]?.toolCalls[0]?.result?.error).to.be.instanceOf(ToolOutputError);
    expect(textsOf(plain.prompts[1]).at(-1)).not.to.include('four');
  });

  it('ends when the visitor cancels, also between the calls and the answer', async () => {
    const controller = new AbortController();
    const cancelling = defineTool({
      name: 'addNumbers',
      input: z.object({ a: z.number(), b: z.number() }),
      execute: () => controller.abort(),
    });
    const { model, plain } = plainModel([ADD, 'Four.']);

    const error = await failureOf(
      runSpec(
        'stream',
        ChatClient.create(model).prompt('?').tools(cancelling).signal(controller.signal),
      ),
    );

    expect(error).to.be.instanceOf(CancelledError);
    expect(plain.prompts).to.have.lengthOf(1);
  });

  it('loads a subset of the tools by the prompt of the user', async () => {
    const tools = ['invoice', 'flight', 'recipe'].map((name): Tool =>
      defineTool({ name: `find_${name}`, description: `Finds a ${name}.`, execute: () => name }),
    );
    const plain = new ScriptedChatModel(['None.']);
    const model = new PromptedToolsModel({
      model: plain,
      selectTools: (all, { prompt }) =>
        all.filter(({ definition }) =>
          textOf(prompt.userMessage?.content ?? '').includes(definition.name.replace('find_', '')),
        ),
    });

    await ChatClient.create(model)
      .prompt('Where is my invoice?')
      .tools(...tools)
      .call()
      .content();

    const [system = ''] = textsOf(plain.prompts[0]);
    expect(system).to.include('find_invoice').and.not.to.include('find_flight');
  });

  it('finds tools by a search, which is a tool by prompt, too', async () => {
    const { model } = plainModel([
      planOf('json', 'toolSearchTool', { query: 'add numbers' }),
      ADD,
      'Four.',
    ]);
    const client = ChatClient.builder(model)
      .defaultAdvisors(new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }))
      .defaultTools(addNumbers)
      .build();

    const { steps, text } = await runSpec('call', client.prompt('What is 2+2?'));

    expect(text).to.equal('Four.');
    expect(steps.flatMap(({ toolCalls }) => toolCalls.map((each) => each.toolName))).to.deep.equal([
      'toolSearchTool',
      'addNumbers',
    ]);
  });

  it('prefers tools that are used often', async () => {
    const tools = ['a', 'b', 'c'].map((name): Tool => defineTool({ name, execute: () => name }));
    const plain = new ScriptedChatModel(['?']);
    const model = new PromptedToolsModel({
      model: plain,
      selectTools: (all, { uses }) => {
        const usesOf = ({ definition }: (typeof all)[number]): number =>
          uses.get(definition.name) ?? 0;
        return all.toSorted((one, other) => usesOf(other) - usesOf(one)).slice(0, 2);
      },
    });
    const call = (id: string): Message => ({
      role: 'assistant',
      content: null,
      toolCalls: [{ id, name: 'c', arguments: '{}' }],
    });
    const result = (id: string): Message => ({
      role: 'tool',
      toolCallId: id,
      toolName: 'c',
      content: 'c',
    });
    const messages = [call('1'), result('1'), call('2'), result('2')];

    await model.call(new Prompt([{ role: 'user', content: '?' }, ...messages], { tools }));

    const names = textsOf(plain.prompts[0])[0]?.match(/(?<=^\{"name":")./gm);
    expect(names).to.deep.equal(['c', 'a']);
  });

  it('shows what the use of tools costs', async () => {
    const usage = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };
    const { model } = plainModel([
      { text: ADD, usage },
      { text: 'Four.', usage },
    ]);

    const response = await runSpec('call', ChatClient.create(model).prompt('?').tools(addNumbers));

    expect(response.usage?.totalTokens).to.equal(220);
    expect(response.run?.ledger.map((call) => call.usage?.totalTokens)).to.deep.equal([110, 110]);
  });
});
