import { expect } from 'chai';
import { EMPTY, lastValueFrom } from 'rxjs';
import { catchError, retry } from 'rxjs/operators';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  LimitExceededError,
  MessageChatMemoryAdvisor,
  ModelCallError,
  Prompt,
  SummarizingChatMemory,
  ToolCallingAdvisor,
  toolCallingAutoRegister,
  type Advisor,
  type ChatEvent,
  type ChatModel,
  type ChatResponse,
  type PromptSpec,
  type Usage,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { failureOf, MODES, type Mode, runSpec } from '../../support/modes.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import { completion, sendJson } from '../../support/wire-server.js';

const usage = (input: number): Usage => ({
  inputTokens: input,
  outputTokens: 1,
  totalTokens: input + 1,
});
const answer = (text: string, input = 100) => ({ text, usage: usage(input) });
const asks = (name = 'f', input = 10) => ({ toolCalls: [{ name }], usage: usage(input) });
const NEVER = new AbortController().signal;
const f = defineTool({ name: 'f', execute: () => 'done' });

async function errorOf(spec: PromptSpec, mode: Mode): Promise<Error> {
  return (await failureOf(runSpec(mode, spec))) as Error;
}

const askAgain = (order: number, times: number): Advisor =>
  defineAdvisor({
    name: 'judge',
    order,
    around: async (request, next) => {
      for (let time = 1; time < times; time++) await next(request);
      return next(request);
    },
  });

const LEFT = AdvisorOrder.GUARD;
const RIGHT = AdvisorOrder.RESILIENCE;
const PLACES = [
  ['left', LEFT],
  ['right', RIGHT],
] as const;

for (const mode of MODES) {
  describe(`the ledger of a run by ${mode}`, () => {
    const wire = useWireModel();

    for (const [place, order] of PLACES)
      it(`[D5] has the answers that an advisor ${place} of the loop refuses`, async () => {
        const model = new ScriptedChatModel(() => answer('no', 100));

        const response = await runSpec(
          mode,
          ChatClient.create(model).prompt('?').tools(f).advisors(askAgain(order, 3)),
        );

        expect(response.usage).to.deep.equal({
          inputTokens: 300,
          outputTokens: 3,
          totalTokens: 303,
        });
        expect(response.ledger.map(({ attempt, outcome }) => [attempt, outcome])).to.deep.equal([
          [1, 'answered'],
          [2, 'answered'],
          [3, 'answered'],
        ]);
      });

    it('[D5] has the first answer too if an advisor returns it instead of the last', async () => {
      const keepFirst = defineAdvisor({
        name: 'keep-first',
        order: LEFT,
        around: async (request, next) => {
          const first = await next(request);
          await next(request);
          return first;
        },
      });
      const model = new ScriptedChatModel([answer('first', 100), answer('second', 200)]);

      const response = await runSpec(
        mode,
        ChatClient.create(model).prompt('?').advisors(keepFirst),
      );

      expect([response.text, response.usage?.inputTokens]).to.deep.equal(['first', 300]);
    });

    it('[D5] has failed attempts that reported usage, with all its counts', async () => {
      const spent = {
        ...usage(50),
        cachedInputTokens: 20,
        cacheWriteTokens: 7,
        reasoningTokens: 3,
      };
      const error = new ModelCallError('cut off', { usage: spent });
      const again: Advisor = {
        name: 'again',
        order: RIGHT,
        advise: (request, chain) => chain.next(request).pipe(retry(1)),
      };
      const model = new ScriptedChatModel([{ deltas: ['half '], error }, answer('whole')]);

      const response = await runSpec(mode, ChatClient.create(model).prompt('?').advisors(again));

      expect(response.usage).to.deep.equal({
        inputTokens: 150,
        outputTokens: 2,
        totalTokens: 152,
        cachedInputTokens: 20,
        cacheWriteTokens: 7,
        reasoningTokens: 3,
      });
      expect(response.ledger).to.deep.equal([
        {
          kind: 'chat',
          model: 'scripted',
          iteration: 0,
          attempt: 1,
          usage: spent,
          outcome: 'failed',
        },
        {
          kind: 'chat',
          model: 'scripted',
          iteration: 0,
          attempt: 2,
          usage: usage(100),
          outcome: 'answered',
        },
      ]);
    });

    it('[D5] has a call as failed if its model throws, or ends without an answer', async () => {
      const throws = (): never => {
        throw new Error('no key');
      };
      const broken: readonly Partial<ChatModel>[] = [
        { call: throws, stream: throws },
        { call: () => Promise.resolve(undefined as never), stream: () => EMPTY },
      ];

      for (const model of broken) {
        const spec = ChatClient.create(model as ChatModel).prompt('?');
        const { run: report } = (await errorOf(spec, mode)) as ModelCallError;

        expect(report?.ledger.map(({ outcome }) => outcome)).to.deep.equal(['failed']);
      }
    });

    it('[D5] names the other models of the run', async () => {
      const main = new ScriptedChatModel([new ModelCallError('down', { retryable: true })]);
      const other = new ScriptedChatModel([{ ...answer('hi'), model: 'b-2' }], { model: 'b' });
      const fallback: Advisor = {
        name: 'fallback',
        order: RIGHT,
        advise: (request, chain) =>
          chain.next(request).pipe(catchError(() => chain.next(request.withModel(other)))),
      };

      const response = await runSpec(mode, ChatClient.create(main).prompt('?').advisors(fallback));

      expect(response.ledger.map(({ model, outcome }) => [model, outcome])).to.deep.equal([
        ['scripted', 'failed'],
        ['b-2', 'answered'],
      ]);
      expect(response.usage).to.deep.equal(usage(100));
    });

    it('[D5] counts attempts by iteration, also after a retry of the whole turn', async () => {
      const model = new ScriptedChatModel([
        asks(),
        new ModelCallError('down'),
        asks(),
        answer('done'),
      ]);
      const again: Advisor = {
        name: 'again',
        order: LEFT,
        advise: (request, chain) => chain.next(request).pipe(retry(1)),
      };

      const response = await runSpec(
        mode,
        ChatClient.create(model).prompt('?').tools(f).advisors(again),
      );

      expect(response.ledger.map(({ iteration, attempt }) => [iteration, attempt])).to.deep.equal([
        [0, 1],
        [1, 1],
        [0, 2],
        [1, 2],
      ]);
      expect(response.usage?.inputTokens).to.equal(120);
    });

    for (const timeout of [undefined, 10_000])
      it(`[D5] has turns at any depth in tools, once in each${timeout ? ', with a time limit' : ''}`, async () => {
        const totals: (number | undefined)[] = [];
        const nested = (depth: number): PromptSpec => {
          const script: Script =
            depth === 2 ? [answer('deep', 1_000)] : [asks('deeper'), answer('up')];
          const deeper = defineTool({
            name: 'deeper',
            timeout,
            execute: async (_args, { signal }) => {
              const response = await runSpec(mode, nested(depth + 1).signal(signal));
              totals[depth + 1] = response.usage?.inputTokens;
              return response.text;
            },
          });
          return ChatClient.create(new ScriptedChatModel(script)).prompt('?').tools(deeper);
        };

        const response = await runSpec(mode, nested(0));

        totals[0] = response.usage?.inputTokens;
        expect(totals).to.deep.equal([1_220, 1_110, 1_000]);
        expect(response.ledger).to.have.lengthOf(5);
      });

    it('[D5] has turns in advisors, on each side of the loop', async () => {
      const judge = ChatClient.create(new ScriptedChatModel(() => answer('good', 1)));
      const judges = PLACES.map(([name, order]) =>
        defineAdvisor({
          name,
          order,
          around: async (request, next) => {
            await runSpec(mode, judge.prompt('?').signal(request.signal));
            return next(request);
          },
        }),
      );
      const model = new ScriptedChatModel([asks(), answer('done')]);

      const response = await runSpec(
        mode,
        ChatClient.create(model)
          .prompt('?')
          .tools(f)
          .advisors(...judges),
      );

      expect(response.usage?.inputTokens).to.equal(113);
      expect(response.ledger).to.have.lengthOf(5);
    });

    it('[D5] has nothing twice if a nested turn fails, and nothing of other runs', async () => {
      const failing = new ScriptedChatModel(() => new ModelCallError('no', { usage: usage(7) }));
      const nested = defineTool({
        name: 'f',
        execute: (_args, { signal }) =>
          ChatClient.create(failing).prompt('?').signal(signal).call().content(),
      });
      const spec = ChatClient.create(
        new ScriptedChatModel(({ messages }) => (messages.length === 1 ? asks() : answer('so'))),
      )
        .prompt('?')
        .tools(nested);

      const responses = await Promise.all([runSpec(mode, spec), runSpec(mode, spec)]);

      expect(responses.map((one) => one.usage?.inputTokens)).to.deep.equal([117, 117]);
    });

    it('[D5] is on the error too, with the same sum', async () => {
      const model = new ScriptedChatModel([asks(), new ModelCallError('no', { usage: usage(5) })]);

      const { run: report } = (await errorOf(
        ChatClient.create(model).prompt('?').tools(f),
        mode,
      )) as ModelCallError;

      expect(report?.usage).to.deep.equal({ inputTokens: 15, outputTokens: 2, totalTokens: 17 });
      expect(report?.ledger.map(({ outcome }) => outcome)).to.deep.equal(['answered', 'failed']);
    });

    it('[D5] is whole at a limit: in the answer, in the error and in its response', async () => {
      const client = (onLimit: 'throw' | 'answer' | 'return') =>
        ChatClient.create(new ScriptedChatModel(() => asks()))
          .prompt('?')
          .tools(f)
          .advisors(new ToolCallingAdvisor({ maxIterations: 2, onLimit }), askAgain(RIGHT, 2));

      const error = (await errorOf(client('throw'), mode)) as LimitExceededError<
        unknown,
        ChatResponse
      >;

      expect(error).to.be.instanceOf(LimitExceededError);
      expect(error.response.usage?.inputTokens).to.equal(40);
      expect(error.run?.usage?.inputTokens).to.equal(40);
      expect((await runSpec(mode, client('return'))).usage?.inputTokens).to.equal(40);
      expect((await runSpec(mode, client('answer'))).usage?.inputTokens).to.equal(60);
    });

    it('[D5] marks a model call that was given up as cancelled', async () => {
      const model = new ScriptedChatModel([{ text: 'slow', delay: 50 }]);
      const controller = new AbortController();
      const spec = ChatClient.create(model).prompt('?').signal(controller.signal);

      const failed = errorOf(spec, mode);
      await new Promise(setImmediate);
      controller.abort();

      const { run: report } = (await failed) as ModelCallError;
      expect(report?.ledger.map(({ outcome }) => outcome)).to.deep.equal(['cancelled']);
    });

    it('[D5] [D103] has the summaries of a memory when the run has settled', async () => {
      const chatMemory = new SummarizingChatMemory({
        repository: new InMemoryChatMemoryRepository(),
        model: new ScriptedChatModel(() => answer('summary', 1_000)),
        maxMessages: 2,
      });
      const spec = ChatClient.create(new ScriptedChatModel(() => answer('so', 100)))
        .prompt('?')
        .advisors(new MessageChatMemoryAdvisor({ chatMemory }))
        .advisors((a) => a.param(CONVERSATION_ID, 'anna'));

      await runSpec(mode, spec);
      const response = await runSpec(mode, spec);
      await response.run?.settled;

      expect(response.usage?.inputTokens).to.equal(100); // the answer does not wait for the summary
      expect(response.run?.usage?.inputTokens).to.equal(1_100);
      expect(response.ledger.map(({ iteration, attempt }) => [iteration, attempt])).to.deep.equal([
        [0, 1],
        [undefined, 1],
      ]);
    });

    it('[D5] [D7] can be read by an advisor, with the steps so far', async () => {
      const seen: unknown[] = [];
      const watcher = defineAdvisor({
        name: 'watcher',
        order: LEFT,
        after: ({ ledger, steps }) => void seen.push(ledger.length, steps.length),
      });

      await runSpec(
        mode,
        ChatClient.create(new ScriptedChatModel([asks(), answer('so')]))
          .prompt('?')
          .tools(f)
          .advisors(watcher),
      );

      expect(seen).to.deep.equal([2, 2]);
    });

    it('[D5] has a model that an advisor calls itself, with the signal of its request', async () => {
      wire.answer = (exchange) =>
        sendJson(
          exchange,
          completion('good', { usage: { prompt_tokens: 5, completion_tokens: 1 } }),
        );
      const judge = defineAdvisor({
        name: 'judge',
        order: LEFT,
        around: async (request, next) => {
          const prompt = new Prompt('Is this fine?');
          await wire.model.call(prompt, { signal: request.signal });
          await lastOf(wire.model.stream(prompt, { signal: request.signal }));
          return next(request);
        },
      });
      const model = new ScriptedChatModel([answer('so', 100)]);

      const response = await runSpec(mode, ChatClient.create(model).prompt('?').advisors(judge));

      expect(response.ledger.map((call) => [call.model, call.iteration])).to.deep.equal([
        ['m', undefined],
        ['m', undefined],
        ['scripted', 0],
      ]);
      expect(response.usage?.inputTokens).to.equal(110);
    });

    it('[D5] has a model that is itself made of turns or of models once', async () => {
      wire.answer = (exchange) => {
        const counts = { usage: { prompt_tokens: 5, completion_tokens: 1 } };
        sendJson(exchange, completion('so', counts));
      };
      const inner = ChatClient.create(wire.model);
      const agent: ChatModel = {
        defaultOptions: {},
        call: (_prompt, { signal = NEVER } = {}) =>
          inner.prompt('?').signal(signal).call().chatResponse(),
        stream: (_prompt, { signal } = {}) => wire.model.stream(new Prompt('?'), { signal }),
      };

      const response = await runSpec(mode, ChatClient.create(agent).prompt('?'));

      expect(response.usage?.inputTokens).to.equal(5);
      expect(response.ledger).to.have.lengthOf(1);
    });

    it('[D5] works without a loop', async () => {
      const model = new ScriptedChatModel(() => answer('no'));

      const response = await runSpec(
        mode,
        ChatClient.create(model)
          .prompt('?')
          .advisors(toolCallingAutoRegister(false), askAgain(LEFT, 2)),
      );

      expect(response.usage?.inputTokens).to.equal(200);
    });
  });
}

describe('usage', () => {
  it('[D5] is the same sum in every view', async () => {
    const spec = ChatClient.create(new ScriptedChatModel(() => answer('{}')))
      .prompt('?')
      .advisors(askAgain(LEFT, 2));
    const events: ChatEvent[] = [];

    await spec
      .stream()
      .events()
      .forEach((event) => events.push(event));
    const last = events.at(-1);
    const responses = [
      last?.type === 'response' ? last.response : undefined,
      await spec.call().chatResponse(),
      await spec.call().chatClientResponse(),
      (await spec.call().responseEntity({ type: 'object' })).response,
      await lastValueFrom(spec.stream().chatResponse()),
      await lastValueFrom(spec.stream().chatClientResponse()),
    ];

    expect(responses.map((response) => response?.usage?.inputTokens)).to.deep.equal(
      Array(6).fill(200),
    );
  });
});
