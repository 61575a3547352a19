import { expect } from 'chai';
import { retry } from 'rxjs';
import {
  ChatClient,
  defineTool,
  LimitExceededError,
  ToolCallingAdvisor,
  type Advisor,
  type EmbeddingModel,
  type PromptSpec,
  type ToolCallingAdvisorOptions,
} from '../../../src/index.js';
import { embedInRun } from '../../../src/stores/vectors/embedding-model.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { INSIDE } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';

const asks = { toolCalls: [{ name: 'tool' }] };

/** The error of a turn whose model asks for a tool again and again. */
async function failure(
  mode: Mode,
  options: ToolCallingAdvisorOptions,
  execute: () => unknown = () => 'ok',
  script: Script = Array.from({ length: 20 }, () => asks),
  ...advisors: readonly Advisor[]
): Promise<LimitExceededError> {
  const spec = ChatClient.create(new ScriptedChatModel(script))
    .prompt('Go.')
    .tools(defineTool({ name: 'tool', timeout: Infinity, execute }))
    .advisors(new ToolCallingAdvisor({ maxIdenticalCalls: Infinity, ...options }), ...advisors);
  const error = await failureOf(runSpec(mode, spec));
  expect(error).to.be.instanceOf(LimitExceededError);
  return error as LimitExceededError;
}

for (const mode of MODES)
  describe(`limits of a turn (${mode})`, () => {
    it('[D54] ends a turn whose tool never settles', async () => {
      const error = await failure(mode, { maxDuration: 20 }, () => new Promise(() => undefined));

      expect(error).to.include({ limit: 'duration', value: 20, spent: 20, option: 'maxDuration' });
      expect(error.run?.toolCalls[0]).to.include({ toolName: 'tool', status: 'unknown' });
    });

    it('has no time limit if maxDuration is Infinity', async () => {
      const slow = defineTool({
        name: 'tool',
        execute: () => new Promise((resolve) => setTimeout(resolve, 10)),
      });
      const spec = ChatClient.create(new ScriptedChatModel([asks, 'Done.']))
        .prompt('Go.')
        .tools(slow)
        .advisors(new ToolCallingAdvisor({ maxDuration: Infinity }));

      expect(await failureOf(runSpec(mode, spec))).to.equal(undefined);
    });

    it('[D54] ends a turn after as many model calls as the limit', async () => {
      const error = await failure(mode, { maxModelCalls: 3 });

      expect(error).to.include({
        limit: 'model-calls',
        value: 3,
        spent: 3,
        option: 'maxModelCalls',
      });
      expect(error.run?.ledger).to.have.length(3);
      expect(error.run?.toolCalls).to.have.length(3);
    });

    it('[F2] counts chat calls exactly, and no calls of other models', async () => {
      const embeds: Advisor = {
        name: 'embeds',
        order: INSIDE,
        advise: (request, chain) => {
          request.run.endModelCall(request.run.beginModelCall('embedding', 'e'), 'answered', {});
          return chain.next(request);
        },
      };
      const run = (maxModelCalls: number): Promise<unknown> => {
        const spec = ChatClient.create(new ScriptedChatModel([asks, asks, 'Done.']))
          .prompt('Go.')
          .tools(defineTool({ name: 'tool', execute: () => 'ok' }))
          .advisors(new ToolCallingAdvisor({ maxModelCalls }), embeds);
        return failureOf(runSpec(mode, spec));
      };

      expect(await run(3)).to.equal(undefined);
      expect(await run(2)).to.include({ limit: 'model-calls', value: 2 });
    });

    it('[F2] allows as many characters as the limit', async () => {
      const length = 98 + '{}'.length; // of the result and of the arguments
      const run = (maxTurnLength: number): Promise<unknown> => {
        const spec = ChatClient.create(new ScriptedChatModel([asks, 'Done.']))
          .prompt('Go.')
          .tools(defineTool({ name: 'tool', execute: () => 'x'.repeat(98) }))
          .advisors(new ToolCallingAdvisor({ maxTurnLength }));
        return failureOf(runSpec(mode, spec));
      };

      expect(await run(length)).to.equal(undefined);
      expect(await run(length - 1)).to.include({ limit: 'turn-length', spent: length });
    });

    it('[D54] ends an endless retry of a model that fails', async () => {
      const endless: Advisor = {
        name: 'endless',
        order: INSIDE,
        advise: (request, chain) => chain.next(request).pipe(retry()),
      };
      const script = Array.from({ length: 100 }, () => new Error('down'));

      const error = await failure(mode, { maxModelCalls: 5 }, undefined, script, endless);

      expect(error.run?.ledger).to.have.length(5);
    });

    it('[D54] ends a turn whose answers and results grow too large', async () => {
      const error = await failure(mode, { maxTurnLength: 1_000 }, () => 'x'.repeat(400));

      expect(error).to.include({ limit: 'turn-length', value: 1_000, option: 'maxTurnLength' });
      expect(error.run?.toolCalls).to.have.length(3);
    });

    it('[D54] runs none of too many calls of one answer', async () => {
      const calls = (count: number): Script => [
        {
          toolCalls: Array.from({ length: count }, (_, at) => ({
            name: 'tool',
            arguments: { at },
          })),
        },
      ];

      const error = await failure(mode, { maxCallsPerAnswer: 3 }, undefined, calls(4));

      expect(error).to.include({
        limit: 'calls-per-answer',
        value: 3,
        spent: 4,
        option: 'maxCallsPerAnswer',
      });
      expect(error.run?.toolCalls.map(({ status }) => status)).to.deep.equal(
        Array.from({ length: 4 }, () => 'requested'),
      );
      const options = { maxCallsPerAnswer: 4, maxModelCalls: 1 };
      const allowed = await failure(mode, options, undefined, calls(4));
      expect(allowed.run?.toolCalls.map(({ status }) => status)).to.deep.equal(
        Array.from({ length: 4 }, () => 'finished'),
      );
    });

    it('counts the text and the arguments of an answer and the text of a result, up to the limit', async () => {
      const script: Script = [
        { text: 'Wait.', toolCalls: [{ name: 'tool', arguments: { a: 1 } }] },
        'Done.',
      ];
      const length = 'Wait.'.length + '{"a":1}'.length + 'ok'.length;
      const turn = (maxTurnLength: number): PromptSpec =>
        ChatClient.create(new ScriptedChatModel(script))
          .prompt('Go.')
          .tools(defineTool({ name: 'tool', execute: () => 'ok' }))
          .advisors(new ToolCallingAdvisor({ maxTurnLength }));

      expect(await failureOf(runSpec(mode, turn(length)))).to.equal(undefined);
      expect(await failureOf(runSpec(mode, turn(length - 1)))).to.include({ value: length - 1 });
    });

    it('counts calls of chat models alone against maxModelCalls', async () => {
      const embedding: EmbeddingModel = {
        embed: async () => ({ vectors: [], usage: undefined, model: undefined }),
      };
      const embeds = defineTool({
        name: 'tool',
        execute: async (_args, { signal }) => {
          await embedInRun(embedding, ['a'], { signal });
          await embedInRun(embedding, ['b'], { signal });
          return 'ok';
        },
      });
      const spec = ChatClient.create(new ScriptedChatModel([asks, asks, 'Done.']))
        .prompt('Go.')
        .tools(embeds)
        .advisors(new ToolCallingAdvisor({ maxModelCalls: 3 }));

      const { ledger } = await runSpec(mode, spec);

      expect(ledger.map(({ kind }) => kind).join(' ')).to.equal(
        'chat embedding embedding chat embedding embedding chat',
      );
    });

    it('[D54] leaves no timer behind', async () => {
      const timers = (): number =>
        process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      await Promise.resolve(); // the time limit of the test itself begins now
      const before = timers();
      const client = ChatClient.create(new ScriptedChatModel([asks, 'Done.']));
      const spec = client.prompt('Go.').tools(defineTool({ name: 'tool', execute: () => 'ok' }));

      if (mode === 'call') await spec.call().content();
      else for await (const _text of spec.stream().content()) expect(_text).to.be.a('string');

      expect(timers()).to.be.at.most(before);
    });
  });
