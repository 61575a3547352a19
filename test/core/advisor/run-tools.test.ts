import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { lastValueFrom, toArray } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  ChatClientResponse,
  ChatResponse,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  LimitExceededError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ObservabilityAdvisor,
  Prompt,
  ToolCallingAdvisor,
  toolCallingAutoRegister,
  ToolCallingManager,
  type Advisor,
  type ChatEvent,
} from '../../../src/index.js';
import { RecordingTracer, ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { inConversation } from '../../support/memory-advisor.js';

const call = (id: string, name = 'look') => ({ text: `${id}.`, toolCalls: [{ id, name }] });
const look = defineTool({ name: 'look', execute: (_, { call: { id } }) => `result of ${id}` });

/** Records the calls around which it is. */
const audit = (log: string[]): Advisor =>
  defineAdvisor({
    name: 'audit',
    order: 0,
    aroundTool: async (invocation, next) => {
      log.push(invocation.call.id);
      return next(invocation);
    },
  });

/** A tool loop as a user writes it. */
const ownLoop = (manager = new ToolCallingManager()): Advisor =>
  defineAdvisor({
    name: 'own-loop',
    order: AdvisorOrder.TOOL_CALLING,
    around: async (request, next, chain) => {
      let asked = request;
      let response = await next(asked);
      while (response.hasToolCalls()) {
        const { prompt } = await manager.executeToolCalls(
          asked.prompt,
          response,
          chain.tools(asked),
        );
        asked = asked.with({ prompt, iteration: asked.iteration + 1 });
        response = await next(asked);
      }
      return response;
    },
  });

function clientOf(script: Script, ...advisors: readonly Advisor[]) {
  const model = new ScriptedChatModel(script);
  const client = ChatClient.builder(model)
    .defaultTools(look)
    .defaultAdvisors(toolCallingAutoRegister(false), ...advisors)
    .build();
  return { model, client };
}

describe('chain.tools: a tool loop of an advisor', () => {
  for (const mode of MODES)
    describe(mode, () => {
      it('[D17] runs the tools through the advisors, and records the steps', async () => {
        const log: string[] = [];
        const { client } = clientOf([call('a'), call('b'), 'Done.'], audit(log), ownLoop());
        const { text, steps, ledger } = await runSpec(mode, client.prompt('?'));

        expect([text, log]).to.deep.equal(['Done.', ['a', 'b']]);
        expect(
          steps.map(({ index, toolCalls }) => [index, toolCalls[0]?.result?.content]),
        ).to.deep.equal([
          [0, 'result of a'],
          [1, 'result of b'],
          [2, undefined],
        ]);
        expect(ledger.map(({ iteration }) => iteration)).to.deep.equal([0, 1, 2]);
      });

      it('[D17] keeps the transcript of the run', async () => {
        const { client } = clientOf([call('a'), 'Done.'], ownLoop());
        const { transcript } = await runSpec(mode, client.prompt('?'));
        const roles = transcript.map(({ role }) => role);
        expect(roles).to.deep.equal(['user', 'assistant', 'tool', 'assistant']);

        const failing = clientOf([call('a'), new Error('down')], ownLoop());
        expect(await failureOf(runSpec(mode, failing.client.prompt('?'))))
          .to.have.nested.property('run.transcript')
          .that.has.length(3);
      });

      it('[D17] runs tools that an advisor inside the loop has added', async () => {
        const extra = defineTool({ name: 'extra', execute: () => 'more' });
        const adding = defineAdvisor({
          name: 'adding',
          order: AdvisorOrder.TOOL_CALLING + 1,
          before: (request) => request.withTools([...request.tools, extra]),
        });
        const { client, model } = clientOf([call('a', 'extra'), 'Done.'], ownLoop(), adding);
        await runSpec(mode, client.prompt('?'));

        expect(model.prompts[1]?.messages.at(-1)).to.include({ content: 'more' });
      });

      it('[D17] stops the tools with the run, and gives them its signal', async () => {
        const controller = new AbortController();
        let signal: AbortSignal | undefined;
        const hang = defineTool({
          name: 'hang',
          execute: (_, context) => {
            signal = context.signal;
            controller.abort();
            return new Promise<string>(() => undefined);
          },
        });
        const { client } = clientOf([call('a', 'hang')], ownLoop());
        const spec = client.prompt('?').tools(hang).signal(controller.signal);
        const error = await failureOf(runSpec(mode, spec));

        expect(signal?.aborted).to.equal(true);
        expect(error)
          .to.have.nested.property('run.toolCalls[0]')
          .that.includes({ status: 'unknown' });
      });

      it('[D17] keeps the limits of the turn', async () => {
        const manager = new ToolCallingManager({ maxTotalCalls: 1 });
        const { client } = clientOf([call('a'), call('b'), 'Done.'], ownLoop(manager));

        expect(await failureOf(runSpec(mode, client.prompt('?')))).to.be.instanceOf(
          LimitExceededError,
        );
      });

      it('[D17] puts the calls into the trace of the turn', async () => {
        const tracer = new RecordingTracer();
        const observability = new ObservabilityAdvisor({ tracer });
        const { client } = clientOf([call('a'), 'Done.'], observability, ownLoop());
        await runSpec(mode, client.prompt('?'));
        const spans = tracer.spans.map(({ name }) => name);

        expect(spans).to.include('execute_tool look');
      });
    });

  it('[D17] emits iterations and tool events like the loop of the package', async () => {
    const eventsWith = (loop: Advisor): Promise<ChatEvent[]> => {
      const { client } = clientOf([call('a'), 'Done.'], loop);
      return lastValueFrom(client.prompt('?').stream().events().pipe(toArray()));
    };
    const summary = (events: readonly ChatEvent[]): unknown =>
      events.map(({ type, ...rest }) => ('text' in rest ? `${type} ${rest.text}` : type));

    expect(summary(await eventsWith(ownLoop()))).to.deep.equal(
      summary(await eventsWith(new ToolCallingAdvisor())),
    );
  });
});

describe('response.tools: a tool loop around a client', () => {
  const manager = new ToolCallingManager();

  for (const mode of MODES)
    describe(mode, () => {
      it('[D17] runs the tools through the advisors of the client', async () => {
        const log: string[] = [];
        const { client } = clientOf([call('a'), call('b'), 'Done.'], audit(log));
        let prompt = new Prompt('?');
        let response = await runSpec(mode, client.prompt(prompt));
        while (response.hasToolCalls()) {
          ({ prompt } = await manager.executeToolCalls(prompt, response, response.tools()));
          expect(response.steps[0]?.toolCalls[0]).to.include({ status: 'finished' });
          response = await runSpec(mode, client.prompt(prompt));
        }

        expect([response.text, log]).to.deep.equal(['Done.', ['a', 'b']]);
      });

      it('[D17] counts the usage of tools that ask a model', async () => {
        const inner = ChatClient.create(new ScriptedChatModel(['inner', 'inner']));
        const ask = defineTool({
          name: 'ask',
          execute: (_, { signal }) => inner.prompt('?').signal(signal).call().content(),
        });
        const { client } = clientOf([call('a', 'ask'), call('a', 'ask')]);
        const { signal } = new AbortController();
        for (const own of [{}, { signal }]) {
          const response = await runSpec(mode, client.prompt('?').tools(ask));
          const tools = { ...response.tools(), ...own };
          await manager.executeToolCalls(new Prompt('?'), response, tools);

          expect(response.ledger).to.have.length(2);
        }
      });

      it('[D17] ends the calls with a signal', async () => {
        const controller = new AbortController();
        const stop = defineTool({ name: 'stop', execute: () => controller.abort() });
        const { client } = clientOf([call('a', 'stop')]);
        const response = await runSpec(mode, client.prompt('?').tools(stop));
        const { signal } = controller;
        const run = { ...response.tools(), signal };
        const { results } = await manager.executeToolCalls(new Prompt('?'), response, run);

        expect(results[0]?.result).to.include({ isError: true });
      });

      it('[D17] counts the calls of the turn, also those that only the memory has', async () => {
        const chatMemory = new MessageWindowChatMemory({
          repository: new InMemoryChatMemoryRepository(),
        });
        const { client } = clientOf(
          [call('a'), call('b')],
          new MessageChatMemoryAdvisor({ chatMemory }),
        );
        const limited = new ToolCallingManager({ maxTotalCalls: 1 });
        const spec = inConversation(client.prompt());
        const first = await runSpec(mode, spec.user('?'));
        const { messages } = await limited.executeToolCalls(new Prompt([]), first, first.tools());
        const second = await runSpec(mode, spec.messages(messages));

        expect(
          await failureOf(limited.executeToolCalls(new Prompt([]), second, second.tools())),
        ).to.be.instanceOf(LimitExceededError);
      });

      it('[D16] [D17] carries out the calls of a paused turn, which then continues', async () => {
        const log: string[] = [];
        const chatMemory = new MessageWindowChatMemory({
          repository: new InMemoryChatMemoryRepository(),
        });
        const pausing = new ToolCallingAdvisor({
          toolExecutionEligibilityChecker: (answer) =>
            answer.hasToolCalls() && callsOf(answer.message)[0]?.id !== 'b',
        });
        const { client, model } = clientOf(
          [call('a'), call('b'), 'Done.'],
          audit(log),
          pausing,
          new MessageChatMemoryAdvisor({ chatMemory }),
        );
        const spec = inConversation(client.prompt());
        const paused = await runSpec(mode, spec.user('?'));
        expect([paused.hasToolCalls(), log]).to.deep.equal([true, ['a']]);
        expect(paused.transcript.map(({ role }) => role)).to.deep.equal([
          'user',
          'assistant',
          'tool',
          'assistant',
        ]);
        const { messages } = await manager.executeToolCalls(new Prompt([]), paused, paused.tools());
        const { text } = await runSpec(mode, spec.messages(messages));

        expect([text, log]).to.deep.equal(['Done.', ['a', 'b']]);
        expect(model.prompts[2]?.messages.map(({ role }) => role)).to.deep.equal([
          'user',
          'assistant',
          'tool',
          'assistant',
          'tool',
        ]);
      });

      it('[D17] puts the calls of a turn that ended with them into its trace', async () => {
        const tracer = new RecordingTracer();
        const { client } = clientOf([call('a')], new ObservabilityAdvisor({ tracer }));
        const response = await runSpec(mode, client.prompt('?'));
        await manager.executeToolCalls(new Prompt('?'), response, response.tools());
        const tool = tracer.spans.find(({ name }) => name === 'execute_tool look');

        expect(tool).to.have.property('ended', true);
      });
    });

  it('[D17] rejects a response that no run has made', () => {
    const response = new ChatClientResponse(ChatResponse.ofText('?'));

    expect(() => response.tools()).to.throw(InvalidArgumentError, 'chain.tools(request)');
  });
});
