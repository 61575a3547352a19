/** Running calls: the pages of Spring AI on tool context, direct results, execution, errors, resolution, augmented arguments and observation. */
import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import { lastValueFrom, tap } from 'rxjs';
import { z } from 'zod';
import {
  AdvisorOrder,
  augmentTools,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  defineToolProvider,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ObservabilityAdvisor,
  Prompt,
  Tool,
  toolCallingAutoRegister,
  ToolCallingAdvisor,
  ToolCallingManager,
  ToolError,
  toolsFrom,
  type ChatResponse,
  type Message,
  type ToolCallingManagerOptions,
  type ToolManager,
  type ToolContext,
} from '../../src/index.js';
import { augmentSchema } from '../../src/core/json-schema/index.js';
import { RecordingTracer, ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { rejection, runBatch } from '../support/batch.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { calls, namesOf, resultsIn } from '../support/tool-search.js';
import { streamFrom } from '../support/wire-answers.js';

/** Customers of several tenants; the model does not give the tenant. */
class Customers {
  @Tool({ description: 'A customer.', input: z.object({ id: z.int() }) })
  customer({ id }: { id: number }, { values }: ToolContext): string {
    return `customer ${id} of ${String(values['tenant'])}`;
  }
}

const CUSTOMER = { toolCalls: [{ name: 'customer', arguments: { id: 42 } }] };

const rolesOf = (messages: readonly Message[]): readonly string[] =>
  messages.map(({ role }) => role);
const named = (name: string, result = name): Tool => defineTool({ name, execute: () => result });

describe('source: running tools', () => {
  describe('tool context', () => {
    for (const mode of MODES)
      it(`values of the request reach the tool and never the model (${mode})`, async () => {
        const model = new ScriptedChatModel([CUSTOMER, 'Done.']);

        await runSpec(
          mode,
          ChatClient.create(model)
            .prompt('Show customer 42.')
            .tools(new Customers())
            .toolContext({ tenant: 'secret-acme' }),
        );

        expect(model.prompts.map(resultsIn)[1]).to.deep.equal(['customer 42 of secret-acme']);
        const [first] = model.prompts;
        const definitions = first?.options.tools?.map(({ definition }) => definition);
        expect(JSON.stringify([first?.messages, definitions])).not.to.include('secret-acme');
      });

    it('values of a request are merged over the defaults of the client', async () => {
      const seen: unknown[] = [];
      const look = defineTool({ name: 'look', execute: (_, { values }) => void seen.push(values) });
      const client = ChatClient.builder(new ScriptedChatModel([calls('look'), 'ok']))
        .defaultToolContext({ tenant: 'acme', region: 'eu' })
        .build();

      await client.prompt('?').tools(look).toolContext({ region: 'us' }).call().content();

      expect(seen).to.deep.equal([{ tenant: 'acme', region: 'us' }]);
    });

    it('a prompt has tool context for calls that a manager runs', async () => {
      const model = new ScriptedChatModel([CUSTOMER]);
      const options = { tools: toolsFrom(new Customers()), toolContext: { tenant: 'acme' } };
      const prompt = new Prompt('Show customer 42.', options);

      const { messages } = await new ToolCallingManager().executeToolCalls(
        prompt,
        await model.call(prompt),
      );

      expect(messages.map(({ content }) => content)).to.deep.equal(['customer 42 of acme']);
    });
  });

  describe('direct results', () => {
    const direct = defineTool({ name: 'direct', returnDirect: true, execute: () => ({ paid: 1 }) });

    for (const mode of MODES)
      it(`the result is the answer, without another model call (${mode})`, async () => {
        class Cashier {
          @Tool({ returnDirect: true })
          receipt(): string {
            return 'Paid.';
          }
        }
        const model = new ScriptedChatModel([calls('receipt')]);

        const { text, finishReason } = await runSpec(
          mode,
          ChatClient.create(model).prompt('Pay.').tools(new Cashier()),
        );

        expect({ text, finishReason }).to.deep.equal({
          text: 'Paid.',
          finishReason: 'returnDirect',
        });
        expect(model.prompts).to.have.lengthOf(1);
      });

    it('several calls: only if each of their tools returns directly', async () => {
      const all = new ScriptedChatModel([calls('direct', 'direct')]);
      const some = new ScriptedChatModel([calls('direct', 'plain'), 'The model sums up.']);
      const run = (model: ScriptedChatModel) =>
        runSpec('call', ChatClient.create(model).prompt('?').tools(direct, named('plain')));

      const [every, mixed] = [await run(all), await run(some)];

      expect(every.generations.map(({ message }) => message.content)).to.deep.equal([
        '{"paid":1}',
        '{"paid":1}',
      ]);
      expect(mixed.text).to.equal('The model sums up.');
    });
  });

  describe('the loop of the client', () => {
    const script: Script = [calls('day'), 'Friday.'];

    it('runs without any setting, in as many rounds as the model asks for', async () => {
      const model = new ScriptedChatModel([calls('day'), calls('day', 'hour'), 'Friday.']);

      const { text, steps } = await runSpec(
        'call',
        ChatClient.create(model).prompt('?').tools(named('day'), named('hour')),
      );

      expect(text).to.equal('Friday.');
      expect(steps.map(({ toolCalls }) => toolCalls.length)).to.deep.equal([1, 2, 0]);
      expect(rolesOf(model.prompts[2]?.messages ?? [])).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'assistant',
        'tool',
        'tool',
      ]);
    });

    for (const mode of MODES)
      it(`tools that an advisor adds at run time can be called (${mode})`, async () => {
        const model = new ScriptedChatModel(script);
        const adding = defineAdvisor({
          name: 'adding',
          order: AdvisorOrder.RETRIEVAL,
          around: (request, next) =>
            next(request.with({ tools: [...request.tools, named('day', 'Friday')] })),
        });

        const { text } = await runSpec(mode, ChatClient.create(model).prompt('?').advisors(adding));

        expect(text).to.equal('Friday.');
        expect(model.prompts.map(resultsIn)[1]).to.deep.equal(['Friday']);
      });

    it('is turned off for a client, or for one request', async () => {
      const off = ChatClient.builder(new ScriptedChatModel(script))
        .defaultAdvisors(toolCallingAutoRegister(false))
        .build();
      const once = ChatClient.create(new ScriptedChatModel(script))
        .prompt('?')
        .advisors(toolCallingAutoRegister(false));

      const responses = [
        await off.prompt('?').tools(named('day')).call().chatResponse(),
        await once.tools(named('day')).call().chatResponse(),
      ];

      expect(responses.map((response) => response.hasToolCalls())).to.deep.equal([true, true]);
    });
  });

  describe('a loop advisor of the application', () => {
    it('takes a manager, which decides what is offered and how calls run', async () => {
      const inner = new ToolCallingManager();
      const ran: string[] = [];
      const manager: ToolManager = {
        resolveToolDefinitions: (options) =>
          inner.resolveToolDefinitions(options).filter(({ name }) => name !== 'danger'),
        executeToolCalls: (prompt, response, run) => {
          ran.push(...callsOf(response.message).map(({ name }) => name));
          return inner.executeToolCalls(prompt, response, run);
        },
      };
      const model = new ScriptedChatModel([calls('day'), 'Friday.']);

      await ChatClient.builder(model)
        .defaultAdvisors(new ToolCallingAdvisor({ manager, order: AdvisorOrder.TOOL_CALLING + 1 }))
        .build()
        .prompt('?')
        .tools(named('day'), named('danger'))
        .call()
        .content();

      expect(namesOf(model.prompts[0] as Prompt)).to.deep.equal(['day']);
      expect(ran).to.deep.equal(['day']);
    });

    it('asks a checker whether an answer needs tools, for example by its finish reason too', async () => {
      const model = new ScriptedChatModel([
        { ...calls('day'), finishReason: 'tool_calls' },
        { text: 'Not now.', ...calls('day'), finishReason: 'stop' },
      ]);
      const toolExecutionEligibilityChecker = (response: ChatResponse): boolean =>
        response.hasToolCalls() && response.hasFinishReason('tool_calls');

      const { text, steps } = await runSpec(
        'call',
        ChatClient.create(model)
          .prompt('?')
          .tools(named('day'))
          .advisors(new ToolCallingAdvisor({ toolExecutionEligibilityChecker })),
      );

      expect(text).to.equal('Not now.');
      expect(steps).to.have.lengthOf(2);
    });

    it('lets advisors after it see each iteration, and those before it the turn', async () => {
      const seen: string[] = [];
      const watcher = (name: string, order: number) =>
        defineAdvisor({
          name,
          order,
          around: (request, next) => {
            seen.push(`${name} ${request.prompt.messages.length}`);
            return next(request);
          },
        });

      await ChatClient.create(new ScriptedChatModel([calls('day'), 'Friday.']))
        .prompt('?')
        .tools(named('day'))
        .advisors(
          watcher('turn', AdvisorOrder.GUARD),
          watcher('iteration', AdvisorOrder.RESILIENCE),
        )
        .call()
        .content();

      expect(seen).to.deep.equal(['turn 1', 'iteration 1', 'iteration 3']);
    });

    for (const [place, order, keepHistory, stored] of [
      ['before the loop stores the question and the answer', AdvisorOrder.MEMORY, true, ['user', 'assistant']], // prettier-ignore
      ['inside the loop keeps the history of the turn', AdvisorOrder.TOOL_CALLING + 50, false, ['user', 'assistant', 'tool', 'assistant']], // prettier-ignore
    ] as const)
      it(`a memory ${place}`, async () => {
        const chatMemory = new MessageWindowChatMemory({
          repository: new InMemoryChatMemoryRepository(),
        });
        const model = new ScriptedChatModel([calls('day'), 'Friday.']);
        const client = ChatClient.builder(model)
          .defaultAdvisors(
            new MessageChatMemoryAdvisor({ chatMemory, order }),
            new ToolCallingAdvisor({ keepHistory }),
          )
          .build();

        await client
          .prompt('Which day?')
          .tools(named('day'))
          .advisors((a) => a.param(CONVERSATION_ID, 'ida'))
          .call()
          .content();

        expect(rolesOf(model.prompts[1]?.messages ?? [])).to.deep.equal([
          'user',
          'assistant',
          'tool',
        ]);
        expect(rolesOf((await chatMemory.load('ida')).messages)).to.deep.equal(stored);
      });
  });

  describe('a loop that the application writes', () => {
    const QUESTION = 'How warm is it in Lima and in Rome?';
    const degrees = defineTool({
      name: 'degrees',
      input: z.object({ city: z.string() }),
      execute: ({ city }) => (city === 'Lima' ? 19 : 31),
    });
    const script: Script = [
      { toolCalls: ['Lima', 'Rome'].map((city) => ({ name: 'degrees', arguments: { city } })) },
      { toolCalls: [{ name: 'degrees', arguments: { city: 'Rome' } }] },
      '19 and 31.',
    ];
    const emitted: string[] = [];
    const asks: Readonly<
      Record<string, (model: ScriptedChatModel) => (prompt: Prompt) => Promise<ChatResponse>>
    > = {
      'with a client': (model) => (prompt) =>
        ChatClient.create(model)
          .prompt(prompt)
          .advisors(toolCallingAutoRegister(false))
          .call()
          .chatClientResponse(),
      'with a stream of a client': (model) => (prompt) =>
        lastValueFrom(
          ChatClient.create(model)
            .prompt(prompt)
            .advisors(toolCallingAutoRegister(false))
            .stream()
            .events()
            .pipe(tap(({ type }) => emitted.push(type))),
        ).then((event) => {
          if (event.type !== 'response') throw new Error('a stream ends with its response');
          return event.response;
        }),
      'with a model': (model) => (prompt) => model.call(prompt),
      'with a stream of a model': (model) => async (prompt) =>
        (await streamFrom(model, prompt)).response,
    };

    for (const [how, askOf] of Object.entries(asks))
      it(`runs calls by a manager until there are none: ${how}`, async () => {
        const model = new ScriptedChatModel(script);
        const manager = new ToolCallingManager();
        const ask = askOf(model);
        emitted.length = 0;

        let prompt = new Prompt(QUESTION, { tools: [degrees] });
        let response = await ask(prompt);
        while (response.hasToolCalls()) {
          ({ prompt } = await manager.executeToolCalls(prompt, response));
          response = await ask(prompt);
        }

        expect(response.text).to.equal('19 and 31.');
        expect(model.prompts.map(resultsIn)).to.deep.equal([[], ['19', '31'], ['19', '31', '31']]);
        // chunks of each iteration arrive before its response
        if (how.includes('stream of a client'))
          expect(emitted.filter((type) => type === 'text-delta')).to.have.lengthOf(3);
      });

    it('keeps the conversation in a memory of its own', async () => {
      const memory = new MessageWindowChatMemory({
        repository: new InMemoryChatMemoryRepository(),
      });
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'degrees', arguments: { city: 'Lima' } }] },
        '19.',
        'About Lima.',
      ]);
      const manager = new ToolCallingManager();
      const add = (...messages: readonly Message[]): Promise<unknown> => memory.add('c', messages);
      const load = async (): Promise<Prompt> =>
        new Prompt((await memory.load('c')).messages, { tools: [degrees] });

      await add(
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How warm is Lima?' },
      );
      let prompt = await load();
      let response = await model.call(prompt);
      while (response.hasToolCalls()) {
        const { messages } = await manager.executeToolCalls(prompt, response);
        await add(response.message, ...messages);
        prompt = await load();
        response = await model.call(prompt);
      }
      await add(response.message, { role: 'user', content: 'What was my question about?' });
      const second = await model.call(await load());

      expect(second.text).to.equal('About Lima.');
      expect(rolesOf(model.prompts[2]?.messages ?? [])).to.deep.equal([
        'system',
        'user',
        'assistant',
        'tool',
        'assistant',
        'user',
      ]);
    });
  });

  describe('errors', () => {
    class OutOfStock extends Error {}
    const failing = (error: Error, more: object = {}): Tool =>
      defineTool({
        name: 'order',
        ...more,
        execute: () => {
          throw error;
        },
      });
    const contentOf = async (tool: Tool, options: ToolCallingManagerOptions = {}) =>
      (await runBatch([tool], ['order'], options)).contents[0];

    it('the model reads the message of a ToolError, and of no other error', async () => {
      expect(await contentOf(failing(new ToolError('Only 3 are left.')))).to.equal(
        'Only 3 are left.',
      );
      expect(await contentOf(failing(new OutOfStock('table stock_eu')))).not.to.include('stock_eu');
    });

    it('a policy of the manager writes the text for the model', async () => {
      const onToolError: ToolCallingManagerOptions['onToolError'] = (error, { name }) =>
        `${name}: ${(error as Error).message}`;

      expect(await contentOf(failing(new OutOfStock('none')), { onToolError })).to.equal(
        'order: none',
      );
    });

    for (const mode of MODES)
      it(`every failure is thrown to the caller if the policy is to throw (${mode})`, async () => {
        const manager = new ToolCallingManager({ onToolError: 'throw' });
        const cause = new OutOfStock('none');

        const error = await failureOf(
          runSpec(
            mode,
            ChatClient.create(new ScriptedChatModel([calls('order')]))
              .prompt('?')
              .tools(failing(cause))
              .advisors(new ToolCallingAdvisor({ manager })),
          ),
        );

        expect(error).to.include({ name: 'ToolExecutionError', toolName: 'order', cause });
      });

    it('chosen classes of errors are thrown unchanged, others go to the model', async () => {
      const error = new OutOfStock('none');
      const rethrow = [OutOfStock];

      expect(await rejection(contentOf(failing(error), { rethrow }))).to.equal(error);
      expect(await contentOf(failing(new ToolError('x')), { rethrow })).to.equal('x');
    });

    it('a tool has a policy of its own', async () => {
      const tool = failing(new OutOfStock('none'), { onToolError: () => 'Try tomorrow.' });

      expect(await contentOf(tool, { onToolError: 'throw' })).to.equal('Try tomorrow.');
    });
  });

  describe('resolution by name', () => {
    const registry = new Map(
      [named('hidden', 'found')].map((each) => [each.definition.name, each]),
    );

    it('a resolver finds tools that the request does not have', async () => {
      const manager = new ToolCallingManager({ resolver: (name) => registry.get(name) });
      const model = new ScriptedChatModel([calls('hidden', 'unknown'), 'ok']);

      await ChatClient.create(model)
        .prompt('?')
        .tools(named('day'))
        .advisors(new ToolCallingAdvisor({ manager }))
        .call()
        .content();

      const [found, unknown] = resultsIn(model.prompts[1] as Prompt);
      expect(found).to.equal('found');
      expect(unknown).to.include('day');
    });

    it('tools of the request come before tools of the resolver', async () => {
      const { contents } = await runBatch([named('hidden', 'own')], ['hidden'], {
        resolver: (name) => registry.get(name),
      });

      expect(contents).to.deep.equal(['own']);
    });
  });

  describe('additional arguments', () => {
    const thought = z.object({
      thought: z.string().describe('Why you call this'),
      confidence: z.enum(['low', 'high']).optional(),
    });
    const CALL = {
      toolCalls: [{ name: 'customer', arguments: { id: 42, thought: 'I was asked.' } }],
    };

    it('the model gives them, a function receives them, the tool does not', async () => {
      const seen: unknown[] = [];
      const got: unknown[] = [];
      const customer = defineTool({
        name: 'customer',
        input: z.looseObject({ id: z.int() }),
        execute: (args) => void got.push(args),
      });
      const model = new ScriptedChatModel([CALL, 'ok']);

      await ChatClient.builder(model)
        .defaultTools(
          augmentTools([customer], thought, ({ tool, call, arguments: extra }) =>
            seen.push([tool.definition.name, call.arguments, extra]),
          ),
        )
        .build()
        .prompt('?')
        .call()
        .content();

      const [offered] = model.prompts[0]?.options.tools ?? [];
      expect(offered?.definition.inputSchema['required']).to.deep.equal(['id', 'thought']);
      expect(seen).to.deep.equal([
        ['customer', '{"id":42,"thought":"I was asked."}', { thought: 'I was asked.' }],
      ]);
      expect(got).to.deep.equal([{ id: 42 }]);
    });

    it('all tools of an object or of a provider have them', async () => {
      const provider = defineToolProvider({ name: 'p', tools: [named('a'), named('b')] });
      const ignore = (): void => undefined;
      const model = new ScriptedChatModel(['ok']);

      await ChatClient.create(model)
        .prompt('?')
        .tools(
          augmentTools(toolsFrom(new Customers()), thought, ignore),
          augmentTools(provider, thought, ignore),
        )
        .call()
        .content();

      const offered = model.prompts[0]?.options.tools ?? [];
      expect(offered).to.have.lengthOf(3);
      for (const { definition } of offered)
        expect(definition.inputSchema).to.have.nested.property('properties.thought');
    });

    it('they are kept for the tool on demand', async () => {
      const echo = defineTool({
        name: 'customer',
        input: z.looseObject({ id: z.int() }),
        execute: (args) => args,
      });
      const kept = augmentTools([echo], thought, () => undefined, { keep: true });

      const { results } = await runBatch(kept, [
        { name: 'customer', args: { id: 1, thought: 'x' } },
      ]);

      expect(results[0]?.result.value).to.deep.equal({ id: 1, thought: 'x' });
    });

    it('a schema alone gets more arguments', () => {
      const schema = augmentSchema(
        { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        thought,
      );

      expect(schema).to.have.nested.property('properties.thought.description', 'Why you call this');
      expect(schema['required']).to.deep.equal(['id', 'thought']);
    });
  });

  describe('observation', () => {
    for (const captureContent of [false, true])
      it(`a call is a span with its time, ${captureContent ? 'and on demand with' : 'without'} arguments and result`, async () => {
        const tracer = new RecordingTracer();

        await ChatClient.create(new ScriptedChatModel([CUSTOMER, 'ok']))
          .prompt('?')
          .tools(new Customers())
          .toolContext({ tenant: 'acme' })
          .advisors(new ObservabilityAdvisor({ tracer, captureContent }))
          .call()
          .content();

        const span = tracer.spans.find(({ name }) => name === 'execute_tool customer');
        const { attributes = {} } = span ?? {};
        expect(span?.ended).to.equal(true);
        expect(span?.parentSpanContext).not.to.equal(undefined);
        expect(attributes).to.include({ 'gen_ai.tool.name': 'customer' });
        expect([
          attributes['gen_ai.tool.call.arguments'],
          attributes['gen_ai.tool.call.result'],
        ]).to.deep.equal(
          captureContent ? ['{"id":42}', 'customer 42 of acme'] : [undefined, undefined],
        );
      });
  });
});
