import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { of } from 'rxjs';
import {
  AdvisorContext,
  ChainError,
  ChatClient,
  ChatResponse,
  defineTool,
  InvalidArgumentError,
  ModelCallError,
  Prompt,
  PromptedToolsModel,
  type ChatEvent,
  type ChatOptions,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { FORMATS, planOf, setUpPrompted, textsOf } from '../../support/prompted-tools.js';

const ADD = planOf('json', 'add', { a: 2, b: 3 });

describe('PromptedToolsModel', () => {
  for (const [options, message] of [
    [{ model: undefined }, 'model must be a chat model, not undefined'],
    [{ format: 'xml' }, `format must be 'json', 'tagged' or 'react', not "xml"`],
    [{ maxRounds: 0 }, 'maxRounds must be an integer >= 1, not 0'],
    [{ maxPlanLength: 0 }, 'maxPlanLength must be an integer >= 1, not 0'],
    [{ selectTools: [] }, 'selectTools must be a function, not an array of 0'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      const model = new ScriptedChatModel([]);

      expect(() => new PromptedToolsModel({ model, ...options } as never)).to.throw(
        InvalidArgumentError,
        `PromptedToolsModel: ${message}`,
      );
    });

  it('has the default options, the provider and the rules of its model', () => {
    const plain = {
      ...new ScriptedChatModel([], { model: 'small', temperature: 0 }),
      provider: { name: 'local' },
      systemMessages: 'anywhere',
      supportsSchema: () => true,
    } as const;

    const model = new PromptedToolsModel({
      model: Object.assign(new ScriptedChatModel([]), plain),
    });

    expect(model.defaultOptions).to.deep.equal({ model: 'small', temperature: 0 });
    expect(model.provider).to.deep.equal({ name: 'local' });
    expect(model.systemMessages).to.equal('anywhere');
    expect(model).not.to.have.property('supportsSchema');
  });

  it('passes a prompt without tools unchanged', async () => {
    const { model, plain } = setUpPrompted(['Hello.', ADD]);
    const prompt = new Prompt('Hi.', { temperature: 0, responseFormat: 'json' });
    const texts: string[] = [];

    await model.call(prompt);
    await model
      .stream(prompt)
      .forEach((event) => void (event.type === 'text-delta' && texts.push(event.text)));

    const expected = prompt.toJSON();
    expect(plain.prompts.map((each) => each.toJSON())).to.deep.equal([expected, expected]);
    expect(texts.join('')).to.equal(ADD);
  });

  for (const format of FORMATS)
    for (const mode of MODES) {
      const plan = planOf(format, 'add', { a: 2, b: 3 });

      it(`${format}, ${mode}: calls a tool, and gives the model its result as text`, async () => {
        const script = [`Let me see.\n${plan}`, 'It is 5.'];
        const { client, plain, ran } = setUpPrompted(script, { format });

        const response = await runSpec(mode, client.prompt('What is 2 + 3?'));

        expect(response.text).to.equal('It is 5.');
        expect(ran).to.deep.equal([{ a: 2, b: 3 }]);
        const [first, second] = plain.prompts;
        expect(first?.options).to.deep.equal({ model: 'plain' });
        expect(textsOf(first)[0]).to.include('"name":"add","description":"Adds two numbers."');
        expect(second?.messages.map(({ role }) => role)).to.deep.equal([
          'system',
          'user',
          'assistant',
          'user',
        ]);
        expect(textsOf(second)[2]).to.equal(`Let me see.\n${plan}`);
        expect(textsOf(second)[3]).to.include('{"name": "add", "result": {"sum":5}}');
      });

      it(`${format}, ${mode}: makes several calls of one answer`, async () => {
        const plans = {
          json: `{"tool_calls":[{"name":"add","arguments":{"a":1,"b":1}},{"name":"add","arguments":{"a":2,"b":2}}]}`,
          tagged: `${planOf(format, 'add', { a: 1, b: 1 })}\n${planOf(format, 'add', { a: 2, b: 2 })}`,
          react: `${planOf(format, 'add', { a: 1, b: 1 })}\n${planOf(format, 'add', { a: 2, b: 2 })}`,
        };
        const { client, ran } = setUpPrompted([plans[format], 'Done.'], { format });

        const response = await runSpec(mode, client.prompt('Add twice.'));

        expect(ran).to.deep.equal([
          { a: 1, b: 1 },
          { a: 2, b: 2 },
        ]);
        const [step] = response.steps;
        expect(step?.response.message.content).to.equal(null);
        expect(step?.response.finishReason).to.equal('tool_calls');
        expect(new Set(step?.toolCalls.map(({ call }) => call.id)).size).to.equal(2);
      });

      it(`${format}, ${mode}: asks again until a call fits, and runs no other`, async () => {
        const script = [
          planOf(format, 'subtract', { a: 2, b: 3 }),
          planOf(format, 'add', { a: 'two', b: 3 }),
          plan,
          'It is 5.',
        ];
        const { client, plain, ran } = setUpPrompted(script, { format });

        const response = await runSpec(mode, client.prompt('What is 2 + 3?'));

        expect(response.text).to.equal('It is 5.');
        expect(ran).to.deep.equal([{ a: 2, b: 3 }]);
        expect(textsOf(plain.prompts[1]).at(-1)).to.include('there is no tool "subtract" to call');
        expect(textsOf(plain.prompts[2]).at(-1)).to.include('the arguments of "add": a:');
        // the corrections are not part of the conversation
        expect(plain.prompts[3]?.messages).to.have.lengthOf(4);
      });
    }

  for (const mode of MODES) {
    it(`${mode}: fails after the last round`, async () => {
      const { client, plain } = setUpPrompted(() => planOf('json', 'no', {}), { maxRounds: 2 });

      const failure = await failureOf(runSpec(mode, client.prompt('?')));

      expect(failure).to.include({ code: 'model_call', retryable: true, model: 'plain' });
      expect(String(failure)).to.include('in 2 of 2 rounds: there is no tool "no" to call');
      expect(plain.prompts).to.have.lengthOf(2);
    });

    it(`${mode}: sums the usage of all rounds in the answer and in the ledger`, async () => {
      const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
      const script = [
        { text: planOf('json', 'no', {}), usage },
        { text: ADD, usage },
        { text: 'Five.', usage },
      ];
      const { client } = setUpPrompted(script);

      const { usage: sum, run } = await runSpec(mode, client.prompt('?'));

      expect(sum).to.deep.equal({ inputTokens: 30, outputTokens: 3, totalTokens: 33 });
      expect(run?.ledger.map((call) => call.usage?.inputTokens)).to.deep.equal([20, 10]);
    });

    for (const [name, last] of [
      ['fails', new Error('gone')],
      ['has no usable answer either', { text: planOf('json', 'no', {}), usage: undefined }],
    ] as const)
      it(`${mode}: keeps the usage of earlier rounds if the last one ${name}`, async () => {
        const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
        const first = { text: planOf('json', 'no', {}), usage };
        const { client } = setUpPrompted([first, last as Error], { maxRounds: 2 });

        const failure = (await failureOf(runSpec(mode, client.prompt('?')))) as {
          run?: { usage?: unknown };
        };

        expect(failure.run?.usage).to.deep.equal(usage);
      });

    it(`${mode}: ends with the cancellation of the run, whatever the model does`, async () => {
      const abort = new AbortController();
      const plain = new ScriptedChatModel([{ text: ADD, delay: 60_000 }]);
      const model = new PromptedToolsModel({ model: plain });
      const prompt = new Prompt('?', { tools: [setUpPrompted([]).add] });
      const run = { signal: abort.signal };
      const answer =
        mode === 'call'
          ? model.call(prompt, run)
          : model.stream(prompt, run).forEach(() => undefined);

      abort.abort();

      expect(await failureOf(answer)).to.include({ code: 'cancelled' });
      expect(plain.cancelled).to.equal(1);
    });

    it(`${mode}: passes errors of the model unchanged`, async () => {
      const error = new Error('down');
      const { client } = setUpPrompted([error]);

      expect(await failureOf(runSpec(mode, client.prompt('?')))).to.equal(error);
    });

    it(`${mode}: leaves a plan out of the partial text of an error`, async () => {
      const error = new ModelCallError('cut', { partialText: `Sure: ${ADD.slice(0, -5)}` });
      const { client } = setUpPrompted([{ deltas: [], error }]);

      const failure = await failureOf(runSpec(mode, client.prompt('?')));

      expect(failure).to.equal(error);
      expect(error.partialText).to.equal('Sure:');
      expect(error.run?.partialText).to.equal('Sure:');
    });

    it(`${mode}: leaves an answer that is no response to the chain`, async () => {
      const { add } = setUpPrompted([]);
      const response = 42 as unknown as ChatResponse;
      const model = new PromptedToolsModel({
        model: {
          defaultOptions: { model: 'odd' },
          call: () => Promise.resolve(response),
          stream: () => of({ type: 'response', response, context: AdvisorContext.empty }),
        },
      });

      const failure = await failureOf(
        runSpec(mode, ChatClient.create(model).prompt('?').tools(add)),
      );

      expect(failure).to.be.instanceOf(ChainError);
      expect(String(failure)).to.include('must answer with a ChatResponse, not 42');
    });
  }

  it('gives the usage of all rounds to a caller without a ledger', async () => {
    const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
    const { model, add } = setUpPrompted(() => ({ text: planOf('json', 'no', {}), usage }));

    const failure = await failureOf(model.call(new Prompt('?', { tools: [add] })));

    expect(failure).to.have.deep.property('usage', {
      inputTokens: 30,
      outputTokens: 3,
      totalTokens: 33,
    });
  });

  it('reports each further round as a retry', async () => {
    const errors: unknown[] = [];
    const { model, add } = setUpPrompted([planOf('json', 'no', {}), 'Fine.']);

    await model.call(new Prompt('?', { tools: [add] }), { onRetry: (error) => errors.push(error) });

    expect(errors.map(String)).to.have.lengthOf(1);
    expect(String(errors[0])).to.include('in 1 of 3 rounds');
  });

  it('asks no more when the run is cancelled while the retry is reported', async () => {
    const abort = new AbortController();
    const { add } = setUpPrompted([]);
    let asked = 0;
    const text = planOf('json', 'no', {});
    const message = { role: 'assistant', content: text } as const;
    const model = new PromptedToolsModel({
      model: {
        defaultOptions: { model: 'deaf' },
        call: () => (asked++, Promise.resolve(new ChatResponse({ generations: [{ message }] }))),
        stream: () => of(),
      },
    });

    const answer = model.call(new Prompt('?', { tools: [add] }), {
      signal: abort.signal,
      onRetry: () => abort.abort(),
    });

    expect(await failureOf(answer)).to.include({ code: 'cancelled' });
    expect(asked).to.equal(1);
  });

  it('limits the length of a plan', async () => {
    const { model, add } = setUpPrompted(() => ADD, { maxPlanLength: 20 });
    const prompt = new Prompt('?', { tools: [add] });

    for (const failure of [
      await failureOf(model.call(prompt)),
      await failureOf(model.stream(prompt).forEach(() => undefined)),
    ])
      expect(failure).to.include({ code: 'limit_exceeded', option: 'maxPlanLength', value: 20 });
  });

  it('keeps the usage of an answer whose plan is too long', async () => {
    const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
    const { client } = setUpPrompted([{ text: ADD, usage }], { maxPlanLength: 20 });

    const failure = (await failureOf(runSpec('call', client.prompt('?')))) as {
      code?: string;
      run?: { usage?: unknown };
    };

    expect(failure.code).to.equal('limit_exceeded');
    expect(failure.run?.usage).to.deep.equal(usage);
  });

  it('checks calls of a model that has tool calling after all', async () => {
    const { client, ran } = setUpPrompted([
      { toolCalls: [{ name: 'remove', arguments: {} }] },
      { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
      'Three.',
    ]);

    expect(await client.prompt('?').call().content()).to.equal('Three.');
    expect(ran).to.deep.equal([{ a: 1, b: 2 }]);
  });

  it('keeps an answer that was cut off as one, so that no call of it runs', async () => {
    const { client, ran, plain } = setUpPrompted([
      { text: ADD, finishReason: 'length' },
      'I give up.',
    ]);

    expect(await client.prompt('?').call().content()).to.equal('I give up.');
    expect(ran).to.deep.equal([]);
    expect(textsOf(plain.prompts[1]).at(-1)).to.include('your answer was cut off');
  });

  it('keeps the refusal, the reasoning and the metadata of an answer', async () => {
    const { model, add } = setUpPrompted([
      { refusal: 'No.' },
      { text: ADD, reasoning: 'Add them.', metadata: { x: 1 } },
    ]);
    const options = { tools: [add], toolChoice: 'required' } as const;

    const refused = await model.call(new Prompt('?', options));
    const called = await model.call(new Prompt('?', options));

    expect(refused.message).to.deep.equal({
      role: 'assistant',
      content: null,
      refusal: 'No.',
    });
    expect(called.message).to.deep.include({ reasoning: 'Add them.', metadata: { x: 1 } });
  });

  it('keeps the first generation alone: others may contain plans', async () => {
    const message = { role: 'assistant', content: ADD } as const;
    const answer = new ChatResponse({ generations: [{ message }, { message }] });
    const { model, add } = setUpPrompted([answer]);

    const response = await model.call(new Prompt('?', { tools: [add] }));

    expect(response.generations).to.have.lengthOf(1);
    expect(response.hasToolCalls()).to.equal(true);
  });
});

describe('PromptedToolsModel, options of a request', () => {
  const call = async (
    script: readonly string[],
    options: ChatOptions,
    settings: object = {},
    defaults?: ChatOptions,
  ) => {
    const { model, plain, add } = setUpPrompted(script, settings, defaults);
    const prompt = new Prompt('?', { tools: [add], ...options });
    const response = await model.call(prompt).catch((error: unknown) => error);
    const failure = response instanceof Error ? response : undefined;
    const system = textsOf(plain.prompts[0])[0];
    return { plain, response: response as ChatResponse, failure, system };
  };

  it("toolChoice 'none' offers no tool", async () => {
    const { plain, response } = await call(['Five.'], { toolChoice: 'none' });

    expect(response.text).to.equal('Five.');
    expect(plain.prompts[0]?.messages).to.have.lengthOf(1);
    expect(plain.prompts[0]?.options).to.deep.equal({});
  });

  for (const toolChoice of ['required', { tool: 'add' }] as const)
    it(`toolChoice ${JSON.stringify(toolChoice)} asks again after a plain answer`, async () => {
      const { response, system, plain } = await call(['Five.', ADD], { toolChoice });

      expect(callsOf(response.message)[0]?.name).to.equal('add');
      expect(system).to.include('You must call');
      expect(textsOf(plain.prompts[1]).at(-1)).to.include('no tool is called');
    });

  it('a choice among tools of the provider alone is passed on', async () => {
    const options = { providerTools: [{ type: 'search' }], toolChoice: { tool: 'search' } };

    const { plain, response } = await call(['Found.'], { tools: [], ...options });

    expect(response.text).to.equal('Found.');
    expect(plain.prompts[0]?.options).to.deep.include(options);
  });

  it('a required call shows no text before it is certain', async () => {
    const { model, add } = setUpPrompted(['Five.', `So: ${ADD}`]);
    const events: ChatEvent[] = [];

    await model
      .stream(new Prompt('?', { tools: [add], toolChoice: 'required' }))
      .forEach((event) => void events.push(event));

    expect(events.map(({ type }) => type)).to.deep.equal([
      'text-delta',
      'tool-call-delta',
      'response',
    ]);
  });

  it('{ tool } describes this tool alone, and rejects one that is not offered', async () => {
    const other = defineTool({ name: 'other', execute: () => 1 });
    const tools: readonly Tool[] = [setUpPrompted([]).add, other];

    const { system } = await call([ADD], { tools, toolChoice: { tool: 'add' } });
    const { failure } = await call([ADD], { tools, toolChoice: { tool: 'missing' } });

    expect(system).not.to.include('other');
    expect(failure).to.be.instanceOf(InvalidArgumentError);
    expect(failure?.message).to.include('toolChoice names "missing", which is not offered');
  });

  it('parallelToolCalls false takes one call at a time', async () => {
    const two = ADD.replace('[', `[{"name":"add","arguments":{"a":1,"b":1}},`);

    const { response, system } = await call([two, ADD], { parallelToolCalls: false });

    expect(response.message.toolCalls).to.have.lengthOf(1);
    expect(system).to.include('Call one tool at a time.');
  });

  it('describes the format of the answer in place of the option, which would exclude calls', async () => {
    const schema = { type: 'object', properties: { sum: { type: 'number' } } };

    const { plain, system } = await call(
      ['{"sum":5}'],
      { responseFormat: { schema } },
      {},
      { responseFormat: 'json' },
    );

    expect(plain.prompts[0]?.options).to.deep.equal({ responseFormat: 'text' });
    expect(system).to.include(JSON.stringify(schema));
  });

  it('a schema is described in the prompt, and its answer is no plan', async () => {
    const { client, plain } = setUpPrompted([ADD, '{"sum":5}']);

    const value = await client
      .prompt('?')
      .call()
      .entity({ type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] });

    expect(value).to.deep.equal({ sum: 5 });
    expect(textsOf(plain.prompts[0])[1]).to.include('It must fit this JSON Schema');
  });

  it('tools of the model behind are described, not sent', async () => {
    const plain = new ScriptedChatModel([ADD], { tools: [setUpPrompted([]).add] });
    const model = new PromptedToolsModel({ model: plain });

    const response = await model.call(new Prompt('?'));

    expect(response.hasToolCalls()).to.equal(true);
    expect(plain.prompts[0]?.options.tools).to.deep.equal([]);
  });

  it('selects tools by the prompt and by the number of their uses', async () => {
    const { add } = setUpPrompted([]);
    const other = defineTool({ name: 'other', description: 'Another.', execute: () => 1 });
    const seen: unknown[] = [];
    const { model, plain } = setUpPrompted([planOf('json', 'add', { a: 1, b: 1 }), 'No.'], {
      selectTools: (tools, { prompt, uses }) => {
        seen.push([tools.length, prompt.userMessage?.content, [...uses]]);
        return tools.filter(({ definition }) => definition.name === 'other');
      },
    });
    const history = [
      { role: 'user', content: 'Add.' },
      { role: 'assistant', content: null, toolCalls: [{ id: '1', name: 'add', arguments: '{}' }] },
      { role: 'tool', toolCallId: '1', toolName: 'add', content: '0' },
      { role: 'user', content: 'Again.' },
    ] as const;

    const response = await model.call(new Prompt(history, { tools: [add, other] }));

    expect(seen).to.deep.equal([[2, 'Again.', [['add', 1]]]]);
    expect(response.text).to.equal('No.'); // a tool that was not described is not called
    expect(textsOf(plain.prompts[0])[0]).not.to.include('Adds two numbers.');
  });

  for (const selected of [undefined, [{ definition: { name: 'new' } }]])
    it(`rejects ${JSON.stringify(selected)} as a selection`, async () => {
      const { failure } = await call(['?'], {}, { selectTools: () => selected as never });

      expect(failure).to.be.instanceOf(InvalidArgumentError);
      expect(failure?.message).to.include('selectTools must return an array of tools');
    });

  it('shows calls with the examples of the input schemas', async () => {
    const tools = [
      defineTool({
        name: 'weather',
        description: 'Weather.',
        input: { type: 'object', properties: { city: {} }, examples: [{ city: 'Oslo' }, {}] },
        execute: () => 1,
      }),
      defineTool({ name: 'odd', input: { type: 'object', examples: ['x'] }, execute: () => 1 }),
    ];

    const { system } = await call(['?'], { tools });

    expect(system).to.match(
      /Examples of calls:\n\{"tool_calls":\[\{"name":"weather","arguments":\{"city":"Oslo"\}\}\]\}$/,
    );
  });
});
