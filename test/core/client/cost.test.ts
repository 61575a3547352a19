import { expect } from 'chai';
import { z } from 'zod';
import {
  agentTool,
  AdvisorChainError,
  ChatClient,
  ContextKey,
  defineAdvisor,
  AdvisorOrder,
  defineTool,
  FallbackAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  ModelCallError,
  priceTable,
  type EmbeddingModel,
  type ModelCallRecord,
  type PriceOfCall,
  type PromptSpec,
} from '../../../src/index.js';
import { embedInRun } from '../../../src/stores/vectors/embedding-model.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { durableSpec, finish } from '../../support/durable.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions, pausingClient } from '../../support/paused-turns.js';

const MILLION = 1_000_000;
const usage = (inputTokens: number) => ({
  inputTokens,
  outputTokens: 0,
  totalTokens: inputTokens,
});
const answers = (text: string, input: number, model = 'big') => ({
  text,
  model,
  usage: usage(input * MILLION),
});
const calls = (name: string, input: number, model = 'big') => ({
  toolCalls: [{ name }],
  model,
  usage: usage(input * MILLION),
});
/** A model of 2 per million tokens of input, and one of 10. */
const price = priceTable({ small: { input: 2 }, big: { input: 10 } });
const read = defineTool({ name: 'read', effect: 'read', execute: () => 'found' });

const clientOf = (script: readonly ScriptedAnswer[], of: PriceOfCall = price) =>
  ChatClient.builder(new ScriptedChatModel(script)).defaultTools(read).price(of);

for (const mode of MODES)
  describe(`the cost of a run by ${mode}`, () => {
    it('is the sum of the prices of its calls, also of failed ones and of other models', async () => {
      const error = new ModelCallError('cut off', { usage: usage(3 * MILLION), retryable: true });
      const other = new ScriptedChatModel([answers('Here.', 1, 'small-2')]);
      const client = ChatClient.builder(
        new ScriptedChatModel([calls('read', 2), error], { model: 'big' }),
      )
        .price(price)
        .defaultTools(read)
        .defaultAdvisors(new FallbackAdvisor({ models: [other] }))
        .build();

      const response = await runSpec(mode, client.prompt('?'));

      expect(response.text).to.equal('Here.');
      expect(response.ledger.map((call) => price(call))).to.deep.equal([20, 30, 2]);
      expect([response.cost, response.run?.cost]).to.deep.equal([52, 52]);
    });

    it('is undefined without a price', async () => {
      const client = ChatClient.create(new ScriptedChatModel([answers('Hi.', 1)]));

      expect(await runSpec(mode, client.prompt('?'))).to.have.property('cost', undefined);
    });

    const UNKNOWN: Readonly<Record<string, PriceOfCall>> = {
      'knows no price of one of the models': priceTable({ small: { input: 2 } }),
      throws: () => {
        throw new Error('down');
      },
      'returns NaN': () => NaN,
      'returns a negative number': () => -1,
      'returns no number': () => '1' as never,
    };
    for (const [title, of] of Object.entries(UNKNOWN))
      it(`is undefined, and no error, if the price ${title}`, async () => {
        const client = clientOf([calls('read', 1, 'small'), answers('Hi.', 1)], of).build();

        const response = await runSpec(mode, client.prompt('?'));

        expect([response.text, response.cost]).to.deep.equal(['Hi.', undefined]);
        expect(JSON.parse(JSON.stringify(response))).not.to.have.nested.property('run.cost');
      });

    it('is in the report of a failed run, and in its JSON', async () => {
      const client = clientOf([calls('read', 2), new ModelCallError('down')]).build();

      const error = await failureOf(runSpec(mode, client.prompt('?')));

      expect(AdvisorChainError.isInstance(error) && error.run?.cost).to.equal(20);
      expect(
        JSON.parse(JSON.stringify(AdvisorChainError.isInstance(error) && error.run)),
      ).to.include({ cost: 20 });
    });

    it('has embeddings, and nested turns, by the price of the outer client unless they have their own', async () => {
      const embedding: EmbeddingModel = {
        embed: async () => ({ vectors: [], usage: usage(5 * MILLION), model: 'small-embedding' }),
      };
      const embed = defineTool({
        name: 'embed',
        execute: async (_args, { signal }) => {
          await embedInRun(embedding, ['a'], { signal });
          return 'ok';
        },
      });
      const inner: (number | undefined)[] = [];
      const look = defineAdvisor({
        name: 'look',
        order: AdvisorOrder.OBSERVABILITY,
        around: async (request, next) => {
          const response = await next(request);
          inner.push(request.run.cost);
          return response;
        },
      });
      const agent = (name: string, of?: PriceOfCall) => {
        const builder = ChatClient.builder(new ScriptedChatModel([answers('Nested.', 1)]));
        if (of) builder.price(of);
        const client = builder.defaultAdvisors(look).build();
        return agentTool(client, { name, description: 'Ask.' });
      };
      const client = clientOf([
        { toolCalls: [{ name: 'embed' }], model: 'big', usage: usage(MILLION) },
        { toolCalls: [{ name: 'plain', arguments: { message: 'a' } }], model: 'big' },
        { toolCalls: [{ name: 'own', arguments: { message: 'a' } }], model: 'big' },
        answers('Done.', 1),
      ])
        .defaultTools(
          embed,
          agent('plain'),
          agent('own', () => 1),
        )
        .build();

      const { cost } = await runSpec(mode, client.prompt('?'));

      expect(inner).to.deep.equal([10, 1]);
      expect(cost).to.equal(10 + 10 + 10 + 10 + 10);
    });

    it('has the calls of a durable turn that runs again once', async () => {
      const spec = (given: PromptSpec) => given.price(price);
      const turn = (script: readonly ScriptedAnswer[]) => ({
        model: new ScriptedChatModel(script),
        tools: [read],
        spec,
      });
      const engine = new InMemoryDurableEngine();
      const script = [calls('read', 1), answers('Here.', 2)];
      const first = await finish(durableSpec(turn(script), engine), mode);

      const again = new InMemoryDurableEngine(engine.entries());
      const { response } = await finish(durableSpec(turn([]), again), mode);

      expect(response?.ledger.map(({ isReplayed }) => isReplayed)).to.deep.equal([true, true]);
      expect([first.response?.cost, response?.cost]).to.deep.equal([30, 30]);
    });

    it('has the calls of a paused turn before and after its pause', async () => {
      const options = pauseOptions({ store: new InMemoryKeyValueStore() });
      const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
      const client = (script: readonly ScriptedAnswer[]) =>
        pausingClient(new ScriptedChatModel(script), [pay], options).mutate().price(price).build();
      const paused = await runSpec(mode, client([calls('pay', 1)]).prompt('Pay.'));

      const resumed = client([answers('Paid.', 2)]).resume(
        paused.paused?.state ?? '',
        decideAll(paused),
      );
      const response = await runSpec(mode, resumed);

      expect([paused.cost, response.text, response.cost]).to.deep.equal([10, 'Paid.', 30]);
    });
  });

describe('the price of a client', () => {
  it('is a setting of a request, too', async () => {
    const client = clientOf([answers('a', 1), answers('b', 1)]).build();

    const own = await client
      .prompt('?')
      .price(() => 7)
      .call()
      .chatClientResponse();
    const kept = await client.mutate().build().prompt('?').call().chatClientResponse();

    expect([own.cost, kept.cost]).to.deep.equal([7, 10]);
  });

  it('is a function', () => {
    const table = { big: { input: 1 } } as never;

    expect(() => clientOf([], table)).to.throw(
      InvalidArgumentError,
      'price(…): a price, such as priceTable({ … }), must be a function, not an object',
    );
  });

  it('by a table takes a response, or its model and usage', async () => {
    const response = await clientOf([answers('Hi.', 3)])
      .build()
      .prompt('?')
      .call()
      .chatResponse();
    const { model, usage: tokens } = response;

    expect([price(response), price({ model, usage: tokens })]).to.deep.equal([30, 30]);
  });
});

describe('the response of responseEntity', () => {
  const City = z.object({ name: z.string() });
  const SEEN = new ContextKey<boolean>('test.seen', false);
  const marks = defineAdvisor({
    name: 'marks',
    order: AdvisorOrder.GUARD,
    after: (response) => response.withContext(SEEN, true),
  });

  it('has steps, ledger, context and cost; so has the final response of a stream with an entity', async () => {
    const script = [calls('read', 1), answers('{"name":"Rome"}', 2)];
    const spec = (): PromptSpec => clientOf(script).defaultAdvisors(marks).build().prompt('?');

    const { entity, response } = await spec().call().responseEntity(City);
    const stream = spec().stream();
    const streamed = { entity: await stream.entity(City), response: await stream.finalResponse() };

    const kinds = (ledger: readonly ModelCallRecord[]) => ledger.map(({ outcome }) => outcome);
    for (const each of [{ entity, response }, streamed]) {
      expect(each.entity).to.deep.equal({ name: 'Rome' });
      expect(each.response.steps.map(({ toolCalls }) => toolCalls.length)).to.deep.equal([1, 0]);
      expect(kinds(each.response.ledger)).to.deep.equal(['answered', 'answered']);
      expect(each.response.context.get(SEEN)).to.equal(true);
      expect(each.response.cost).to.equal(30);
    }
  });
});
