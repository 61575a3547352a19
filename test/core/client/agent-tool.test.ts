import { expect } from 'chai';
import { z } from 'zod';
import {
  agentTool,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  defineToolProvider,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  LimitExceededError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  ObservabilityAdvisor,
  textOf,
  ToolDefinitionError,
  type AgentToolOptions,
  type ChatEvent,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { recordSpans, treeOf, useContextManager } from '../../support/recorded-spans.js';
import { recorder } from '../../support/turn.js';

const usage = (tokens: number) => ({
  inputTokens: tokens,
  outputTokens: 1,
  totalTokens: tokens + 1,
});
const asks = (name: string, args: object = { message: 'Why?' }): ScriptedAnswer => ({
  toolCalls: [{ name, arguments: { ...args } }],
  usage: usage(10),
});
const done: ScriptedAnswer = { text: 'done', usage: usage(20) };
const noop = defineTool({ name: 'noop', execute: () => 'ok' });

/** A client whose model asks the tool once. */
function outer(tool: Tool, args?: object): { model: ScriptedChatModel; client: ChatClient } {
  const model = new ScriptedChatModel([asks(tool.definition.name, args), done]);
  return { model, client: ChatClient.builder(model).defaultTools(tool).build() };
}

const inner = (...script: ScriptedAnswer[]): ChatClient<never> =>
  ChatClient.create(new ScriptedChatModel(script));
const research = (client: ChatClient, options: Partial<AgentToolOptions> = {}): Tool =>
  agentTool(client, { name: 'research', description: 'Finds out.', ...options } as never);

describe('agentTool', () => {
  for (const [options, message] of [
    [{ maxDepth: 0 }, 'agentTool: maxDepth must be an integer >= 1, not 0'],
    [{ turn: 'x' }, 'agentTool: turn must be a function, not "x"'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => research(inner(), options as never)).to.throw(InvalidArgumentError, message);
    });

  it('rejects what is no client, and a name that providers reject', () => {
    expect(() => research({} as never)).to.throw(InvalidArgumentError, 'agentTool: client must be');
    expect(() => research(inner(), { name: 'my agent' })).to.throw(ToolDefinitionError);
  });

  it('takes the settings of tools, without a time limit of its own', () => {
    const tool = research(inner(), { effect: 'read', category: 'web', deferred: true });

    expect(tool.metadata).to.deep.equal({
      effect: 'read',
      category: 'web',
      deferred: true,
      returnDirect: false,
      timeout: Infinity,
    });
    expect(tool.definition).to.have.nested.property('inputSchema.required[0]', 'message');
  });

  it('takes the schema of its arguments as inputSchema too', async () => {
    const model = new ScriptedChatModel(['Because.']);
    const agent = agentTool(ChatClient.create(model), {
      name: 'research',
      inputSchema: z.object({ topic: z.string() }),
      turn: (turn, { topic }) => turn.user(`About ${topic}.`),
    });

    await outer(agent, { topic: 'tides' }).client.prompt('Go.').call().content();

    expect(agent.definition.inputSchema).to.have.nested.property('properties.topic');
    expect(model.prompts[0]?.messages.map(textOf)).to.deep.equal(['About tides.']);
  });

  for (const mode of MODES)
    describe(`in a ${mode}`, () => {
      it('answers the message by a turn of the client', async () => {
        const model = new ScriptedChatModel(['Because.']);
        const agent = ChatClient.builder(model).defaultSystem('Be brief.').build();
        const { model: asked, client } = outer(research(agent));

        const response = await runSpec(mode, client.prompt('Go.'));

        expect(response.text).to.equal('done');
        expect(model.prompts[0]?.messages).to.deep.equal([
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Why?' },
        ]);
        expect(asked.prompts[1]?.messages.at(-1)).to.include({ role: 'tool', content: 'Because.' });
      });

      it('emits the events of the turn as progress of the call, with its tools and retractions (openai-agents-python#864, openai-agents-python#1057, adk-python#4095)', async () => {
        const events: ChatEvent[] = [];
        const again = defineAdvisor({
          name: 'again',
          order: 100,
          around: async (request, next) => {
            await next(request);
            return next(request);
          },
        });
        const agent = ChatClient.builder(new ScriptedChatModel([asks('noop', {}), 'no', 'yes']))
          .defaultTools(noop)
          .defaultAdvisors(again)
          .build();

        await runSpec(mode, outer(research(agent)).client.prompt('?').advisors(recorder(events)));

        const progress = events.flatMap((event) =>
          event.type === 'tool-progress' ? [event.data as ChatEvent] : [],
        );
        expect(progress.map(({ type }) => type)).to.deep.equal([
          'iteration-start',
          'tool-call-delta',
          'iteration',
          'tool-call',
          'tool-start',
          'tool-result',
          'step',
          'iteration-start',
          'text-delta',
          'retract',
          'iteration-start',
          'text-delta',
        ]);
        const at = events.map(({ type }) => type);
        expect(at.indexOf('tool-call')).to.be.lessThan(at.indexOf('tool-progress'));
        expect(at.lastIndexOf('tool-progress')).to.be.lessThan(at.indexOf('tool-result'));
      });

      it('counts the model calls of the turn in the ledger and the usage of the outer one (yoagent#173, pydantic-deepagents#45, software-agent-sdk#3907)', async () => {
        const agent = inner({ text: 'Because.', usage: usage(1_000) });

        const response = await runSpec(mode, outer(research(agent)).client.prompt('?'));

        expect(response.usage?.inputTokens).to.equal(1_030);
        expect(response.ledger.map((call) => call.usage?.inputTokens)).to.deep.equal([
          10, 1_000, 20,
        ]);
      });

      it('counts a failed turn too, and the time limit of the tool changes nothing', async () => {
        const failing = inner(new ModelCallError('secret of the server', { usage: usage(7) }));
        const { model, client } = outer(research(failing, { timeout: 10_000 }));

        const response = await runSpec(mode, client.prompt('?'));

        expect(response.usage?.inputTokens).to.equal(37);
        expect(JSON.stringify(model.prompts[1])).not.to.include('secret');
      });

      it('makes an error of the turn the error of the call, with its report', async () => {
        const error = new ModelCallError('no');
        const { client } = outer(research(inner(error)));

        const { steps } = await runSpec(mode, client.prompt('?'));

        const result = steps[0]?.toolCalls[0]?.result;
        expect(result?.isError).to.equal(true);
        expect(result?.error).to.equal(error);
        expect(error.run?.ledger).to.have.lengthOf(1);
      });

      for (const [what, answer, message] of [
        ['a refusal', { refusal: 'I must not.' }, '"research" refused: I must not.'],
        ['an empty answer', { text: '' }, '"research" ended without an answer.'],
      ] as const)
        it(`reports to the model ${what}`, async () => {
          const { model, client } = outer(research(inner(answer)));

          await runSpec(mode, client.prompt('?'));

          expect(model.prompts[1]?.messages.at(-1)).to.include({ content: message, isError: true });
        });

      it('asks nothing of the client if the message is empty', async () => {
        const model = new ScriptedChatModel([]);
        const { client } = outer(research(ChatClient.create(model)), { message: '  ' });

        const { steps } = await runSpec(mode, client.prompt('?'));

        expect(steps[0]?.toolCalls[0]?.result?.content).to.equal('The message is empty.');
        expect(model.prompts).to.have.lengthOf(0);
      });

      it('ends with the outer turn', async () => {
        const abort = new AbortController();
        const model = new ScriptedChatModel(() => ({ text: 'one two three', delay: 1 }));
        const stop = defineAdvisor({
          name: 'stop',
          order: 1,
          onEvent: (event) => void (event.type === 'tool-progress' && abort.abort()),
        });
        const { client } = outer(research(ChatClient.create(model)));

        const error = await failureOf(
          runSpec(mode, client.prompt('?').advisors(stop).signal(abort.signal)),
        );

        expect(error).to.have.property('code', 'cancelled');
        await (error as ModelCallError).run?.settled;
        expect(model.cancelled).to.equal(1);
      });

      it('passes the tool context down, at any depth', async () => {
        const seen: unknown[] = [];
        const user = defineTool({
          name: 'user',
          execute: (_args, { values }) => void seen.push(values['user']),
        });
        const deepest = ChatClient.builder(new ScriptedChatModel([asks('user', {}), 'Anna.']))
          .defaultTools(user)
          .build();
        const middle = outer(research(deepest)).client;

        const { client } = outer(research(middle, { name: 'middle' }));
        await runSpec(mode, client.prompt('?').toolContext({ user: 'anna' }));

        expect(seen).to.deep.equal(['anna']);
      });

      it('keeps its memory apart from the memory of the outer turn, unless `turn` gives it a conversation', async () => {
        const repository = new InMemoryChatMemoryRepository();
        const memory = (): MessageChatMemoryAdvisor =>
          new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) });
        const agent = ChatClient.builder(new ScriptedChatModel(['Because.']))
          .defaultAdvisors(memory())
          .build();
        const tool = research(agent, {
          turn: (turn, _args, { advisorContext }) =>
            turn.advisors((a) =>
              a.param(CONVERSATION_ID, `${advisorContext.get(CONVERSATION_ID)}/research`),
            ),
        });

        await runSpec(
          mode,
          outer(tool)
            .client.prompt('Go.')
            .advisors(memory(), (a) => a.param(CONVERSATION_ID, 'anna')),
        );

        expect(await repository.conversationIds()).to.have.members(['anna', 'anna/research']);
        const { messages } = await repository.read('anna/research');
        expect(messages.map(({ message }) => message.role)).to.deep.equal(['user', 'assistant']);
      });

      it('waits for an approval inside the agent', async () => {
        const asked: string[] = [];
        const approval = defineAdvisor({
          name: 'approval',
          order: 100,
          aroundTool: async (call, next) => {
            asked.push(call.call.name);
            await new Promise(setImmediate);
            return next(call);
          },
        });
        const agent = ChatClient.builder(new ScriptedChatModel([asks('noop', {}), 'Deleted.']))
          .defaultTools(noop)
          .defaultAdvisors(approval)
          .build();
        const { model, client } = outer(research(agent));

        await runSpec(mode, client.prompt('?'));

        expect(asked).to.deep.equal(['noop']);
        expect(model.prompts[1]?.messages.at(-1)).to.include({ content: 'Deleted.' });
      });

      it('sends arguments of another schema as JSON, or as the text of `turn`', async () => {
        const input = z.object({ topic: z.string() });
        const model = new ScriptedChatModel(() => 'Because.');
        const agent = ChatClient.create(model);
        const plain = agentTool(agent, { name: 'plain', input });
        const own = agentTool(agent, {
          name: 'own',
          input,
          turn: (turn, { topic }) => turn.user(`Look for ${topic}.`),
        });

        for (const tool of [plain, own])
          await runSpec(mode, outer(tool, { topic: 'rain' }).client.prompt('?'));

        expect(model.prompts.map((prompt) => prompt.userMessage?.content)).to.deep.equal([
          '{"topic":"rain"}',
          'Look for rain.',
        ]);
      });

      it('returns the value of a schema, once changed by it', async () => {
        const output = z.object({ people: z.string().transform(Number) });
        const tool = agentTool(inner('{"people":"7"}'), { name: 'count', output });
        const typed: Tool<'count', { readonly message?: unknown }, { people: number }> = tool;
        const { model, client } = outer(typed);

        const { steps } = await runSpec(mode, client.prompt('?'));

        expect(steps[0]?.toolCalls[0]?.result?.value).to.deep.equal({ people: 7 });
        expect(model.prompts[1]?.messages.at(-1)).to.include({ content: '{"people":7}' });
      });

      it('fails with the error of the schema if the answer does not fit', async () => {
        const output = z.object({ people: z.number() });
        const { client } = outer(agentTool(inner('many'), { name: 'count', output }));

        const { steps } = await runSpec(mode, client.prompt('?'));

        expect(steps[0]?.toolCalls[0]?.result?.error).to.have.property('code', 'structured_output');
      });

      it('ends a recursion at maxDepth, with a typed error', async () => {
        const errors: unknown[] = [];
        const model = new ScriptedChatModel(({ messages }) => {
          const last = messages.at(-1);
          return last?.role === 'tool' ? 'enough' : asks('again');
        });
        const watch = defineAdvisor({
          name: 'watch',
          order: 1,
          onEvent: (event) =>
            void (event.type === 'tool-result' && event.result.error
              ? errors.push(event.result.error)
              : undefined),
        });
        const client: ChatClient = ChatClient.builder(model)
          .defaultAdvisors(watch)
          .defaultTools(
            defineToolProvider({
              name: 'itself',
              tools: () => [agentTool(client, { name: 'again', maxDepth: 3 })],
            }),
          )
          .build();

        const response = await runSpec(mode, client.prompt('?'));

        expect(response.text).to.equal('enough');
        expect(errors).to.have.lengthOf(1);
        expect(errors[0]).to.be.instanceOf(LimitExceededError);
        expect(errors[0]).to.include({
          limit: 'agent-depth',
          value: 3,
          spent: 4,
          toolName: 'again',
        });
        expect(response.ledger).to.have.lengthOf(8);
      });

      it('runs agents of a batch beside one another, each with its own events', async () => {
        const events: ChatEvent[] = [];
        const agent = ChatClient.create(
          new ScriptedChatModel(({ userMessage }) => ({
            text: `To ${textOf(userMessage?.content ?? '')}`,
            deltas: ['To ', textOf(userMessage?.content ?? '')],
            delay: 1,
          })),
        );
        const model = new ScriptedChatModel([
          {
            toolCalls: ['a', 'b'].map((message) => ({
              id: message,
              name: 'research',
              arguments: { message },
            })),
          },
          done,
        ]);
        const client = ChatClient.builder(model).defaultTools(research(agent)).build();

        await runSpec(mode, client.prompt('?').advisors(recorder(events)));

        for (const id of ['a', 'b']) {
          const texts = events.flatMap((event) =>
            event.type === 'tool-progress' && event.call.id === id ? [event.data as ChatEvent] : [],
          );
          const text = texts.map((event) => (event.type === 'text-delta' ? event.text : ''));
          expect(text.join('')).to.equal(`To ${id}`);
        }
      });
    });

  describe('with a context manager', () => {
    let stop: () => void;
    before(() => (stop = useContextManager()));
    after(() => stop());

    for (const mode of MODES)
      it(`nests the spans of the turn in the span of the call, in a ${mode}`, async () => {
        const recording = recordSpans();
        const observed = new ObservabilityAdvisor({ tracer: recording.tracer });
        const agent = ChatClient.builder(new ScriptedChatModel(['Because.']))
          .defaultAdvisors(observed)
          .build();

        await runSpec(mode, outer(research(agent)).client.prompt('?').advisors(observed));

        expect(recording.problems).to.deep.equal([]);
        expect(treeOf(recording.spans)).to.equal(
          `
invoke_agent
  advisor tool-calling
    chat scripted
    execute_tool research
      invoke_agent
        advisor tool-calling
          chat scripted
    chat scripted`.trim(),
        );
      });
  });
});
