import { expect } from 'chai';
import { lastValueFrom, toArray } from 'rxjs';
import { z } from 'zod';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  OUTPUT_FORMAT,
  RetryAdvisor,
  StructuredOutputAdvisor,
  StructuredOutputError,
  textOf,
  type ChatModel,
  type ChatResponse,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { failureOf } from '../support/modes.js';

const CITY = z.object({ city: z.string(), people: z.number() });
const ROME = { city: 'Rome', people: 2_750_000 };
const GOOD = JSON.stringify(ROME);
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const BAD = {
  'no JSON': 'Rome has many people.',
  'cut JSON': '{"city":"Rome",',
  nothing: '',
  'another type': '{"city":"Rome","people":"many"}',
};

const isGood = async ({ text }: ChatResponse): Promise<void> => {
  if (text !== GOOD) throw new StructuredOutputError('no', 'mismatch', text ?? '', ['no']);
};

const clientOf = (
  model: ChatModel,
  options?: ConstructorParameters<typeof StructuredOutputAdvisor>[0],
) => ChatClient.builder(model).defaultAdvisors(new StructuredOutputAdvisor(options)).build();

const RUNS = {
  call: (client: ReturnType<typeof clientOf>) => client.prompt('Rome?').call().entity(CITY),
  stream: (client: ReturnType<typeof clientOf>) => client.prompt('Rome?').stream().entity(CITY),
};

for (const [mode, run] of Object.entries(RUNS))
  describe(`StructuredOutputAdvisor (${mode})`, () => {
    const scripted = (...script: Extract<Script, readonly unknown[]>): ScriptedChatModel =>
      new ScriptedChatModel(script);

    it('[SOV-05] asks once for an answer that fits', async () => {
      const model = scripted(GOOD);

      expect(await run(clientOf(model))).to.deep.equal(ROME);
      expect(model.prompts).to.have.length(1);
    });

    for (const [title, text] of Object.entries(BAD))
      it(`[SOV-06] [SOV-09] [SOV-12] [SOV-20] asks again after ${title} (esperanto#244)`, async () => {
        const model = scripted(text, GOOD);

        expect(await run(clientOf(model))).to.deep.equal(ROME);
        const [, second] = model.prompts;
        const texts = second?.messages.map((one) => textOf(one));
        expect(texts).to.have.length(3);
        expect(texts?.[1]).to.equal(text);
        expect(texts?.[2]).to.include('Your answer was not accepted: ');
      });

    it('[SOV-07] [SOV-02] fails with the errors of all attempts (claude-code#76901)', async () => {
      const model = scripted('one', 'two', '{"city":1}');

      const error = (await failureOf(run(clientOf(model)))) as StructuredOutputError;

      expect(error).to.be.instanceOf(StructuredOutputError);
      expect(error.earlierAttempts.map(({ text }) => text)).to.deep.equal(['one', 'two']);
      expect([error.text, error.reason]).to.deep.equal(['{"city":1}', 'mismatch']);
      expect(error.message).to.include('(attempt 3)');
      expect(model.prompts).to.have.length(3);
    });

    it('[SOV-08] asks once with maxRepeats 0', async () => {
      const model = scripted('one', GOOD);

      const error = await failureOf(run(clientOf(model, { maxRepeats: 0 })));

      expect((error as StructuredOutputError).earlierAttempts).to.deep.equal([]);
      expect(model.prompts).to.have.length(1);
    });

    it('does not ask again when the model refuses', async () => {
      const model = scripted({ refusal: 'No.' }, GOOD);

      const error = await failureOf(run(clientOf(model)));

      expect(error).to.include({ reason: 'refusal' });
      expect(model.prompts).to.have.length(1);
    });

    it('passes the error of a model on', async () => {
      const failure = new Error('broken');
      const model = scripted(failure, GOOD);

      const error = (await failureOf(run(clientOf(model)))) as Error;

      expect([error, error.cause]).to.include(failure);
    });

    it('[SOV-15] checks the answer after the advisors behind it have changed it', async () => {
      const shout = defineAdvisor({
        name: 'lower',
        order: AdvisorOrder.STRUCTURED_OUTPUT_VALIDATION + 1,
        around: async (request, next) => {
          const response = await next(request);
          const message = { ...response.message, content: GOOD };
          return response.with({ generations: [{ message }] });
        },
      });
      const model = scripted('one');
      const client = ChatClient.builder(model)
        .defaultAdvisors(new StructuredOutputAdvisor(), shout)
        .build();

      expect(await run(client as never)).to.deep.equal(ROME);
      expect(model.prompts).to.have.length(1);
    });

    it('asks again beside advisors that change the request, repeat the call and wrap the answer (langchainjs#9418)', async () => {
      const prompted = defineAdvisor({
        name: 'prompted',
        order: AdvisorOrder.STRUCTURED_OUTPUT_VALIDATION + 1,
        before: (request) =>
          request.withMessages([
            { role: 'system', content: 'Be brief.' },
            ...request.prompt.messages,
          ]),
        after: (response) => response.with({ metadata: { seen: true } }),
      });
      const down = new ModelCallError('down', { retryable: true });
      const model = scripted('one', down, GOOD);
      const client = ChatClient.builder(model)
        .defaultAdvisors(
          new StructuredOutputAdvisor(),
          prompted,
          new RetryAdvisor({ firstDelay: 0 }),
        )
        .build();

      expect(await run(client as never)).to.deep.equal(ROME);
      expect(
        model.prompts.map(({ messages }) => [messages.length, messages[0]?.role]),
      ).to.deep.equal([
        [2, 'system'],
        [4, 'system'],
        [4, 'system'],
      ]);
    });

    it('[F9] reads the answer, not the JSON that a model writes beside its tool calls (vercel/ai 5475347)', async () => {
      const look = defineTool({ name: 'look', execute: () => 'x' });
      const draft = '{"city":"Milan","people":1}';
      const model = scripted({ text: draft, toolCalls: [{ name: 'look' }] }, GOOD);
      const client = ChatClient.builder(model)
        .defaultAdvisors(new StructuredOutputAdvisor())
        .defaultTools(look)
        .build();

      expect(await run(client as never)).to.deep.equal(ROME);
      expect(model.prompts).to.have.length(2);
    });

    it('asks again after an answer of several JSON values (vercel/ai 5475347)', async () => {
      const model = scripted(`{"city":"Milan","people":1}\n${GOOD}`, GOOD);

      expect(await run(clientOf(model))).to.deep.equal(ROME);
      expect(model.prompts).to.have.length(2);
    });

    it('asks again within an iteration: tools run once', async () => {
      let runs = 0;
      const look = defineTool({ name: 'look', execute: () => ++runs });
      const model = scripted({ toolCalls: [{ name: 'look', arguments: {} }] }, 'one', GOOD);
      const client = ChatClient.builder(model)
        .defaultAdvisors(new StructuredOutputAdvisor())
        .defaultTools(look)
        .build();

      expect(await run(client as never)).to.deep.equal(ROME);
      expect(runs).to.equal(1);
    });
  });

describe('StructuredOutputAdvisor', () => {
  it('[SOV-11] counts the tokens of all attempts, in the answer and in the ledger', async () => {
    const model = new ScriptedChatModel([
      { text: 'one', usage: USAGE },
      { text: GOOD, usage: USAGE },
    ]);

    const { ledger, usage } = await clientOf(model)
      .prompt('Rome?')
      .advisors((a) => a.param(OUTPUT_FORMAT, { text: 'JSON', parse: isGood }))
      .call()
      .chatClientResponse();

    expect(usage?.totalTokens).to.equal(10);
    expect(ledger).to.have.length(2);
  });

  it('keeps a refused answer out of the conversation', async () => {
    const chatMemory = new MessageWindowChatMemory({
      repository: new InMemoryChatMemoryRepository(),
    });
    const model = new ScriptedChatModel(['one', GOOD, 'bye']);
    const client = ChatClient.builder(model)
      .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }), new StructuredOutputAdvisor())
      .defaultAdvisors((a) => a.param(CONVERSATION_ID, 'c'))
      .build();

    await client.prompt('Rome?').call().entity(CITY);
    await client.prompt('Thanks').call().content();

    const texts = model.prompts.at(-1)?.messages.map((one) => one.content); // prettier-ignore
    expect(texts).to.deep.equal(['Rome?', GOOD, 'Thanks']);
  });

  it('retracts a refused answer before it streams the next one (agentscope-java#2858)', async () => {
    const model = new ScriptedChatModel(['one', GOOD]);
    const types: string[] = [];
    await new Promise<void>((resolve, reject) => {
      clientOf(model)
        .prompt('Rome?')
        .advisors((a) => a.param(OUTPUT_FORMAT, { text: 'JSON', parse: isGood }))
        .stream()
        .events()
        .subscribe({ next: ({ type }) => types.push(type), error: reject, complete: resolve });
    });

    const shown = types.filter((type, at) => type !== types[at - 1]);
    expect(shown.join()).to.match(
      /text-delta,(iteration-start,)?retract,(iteration-start,)?text-delta,response$/,
    );
  });

  it('streams the partial objects of the answer that fits', async () => {
    const model = new ScriptedChatModel(['{"city":1}', GOOD]);
    const stream = clientOf(model).prompt('Rome?').stream();

    expect(await lastValueFrom(stream.partialEntity(CITY))).to.deep.equal(ROME);
  });

  it('counts an attempt per answer, not per partial object (pydantic-ai#2314)', async () => {
    const model = new ScriptedChatModel([{ text: GOOD, deltas: [...GOOD] }]);
    const stream = clientOf(model, { maxRepeats: 0 }).prompt('Rome?').stream();

    const values = await lastValueFrom(stream.partialEntity(CITY).pipe(toArray()));

    expect(values.length).to.be.above(5);
    expect(values.at(-1)).to.deep.equal(ROME);
    expect(model.prompts).to.have.length(1);
  });

  it('passes requests without a schema', async () => {
    const model = new ScriptedChatModel(['one']);

    expect(await clientOf(model).prompt('Rome?').call().content()).to.equal('one');
  });

  it('[SOV-03] is within the tool loop by default, and warns left of it', () => {
    const model = new ScriptedChatModel([]);

    const { order, name } = new StructuredOutputAdvisor();
    const early = clientOf(model, { order: AdvisorOrder.MEMORY }).explain();

    expect([order, name]).to.deep.equal([6_000, 'structured-output']);
    expect(String(clientOf(model).explain())).to.not.include('structured-output" retries');
    expect(early.warnings.join()).to.include('structured-output');
  });

  for (const options of [{ maxRepeats: -1 }, { maxRepeats: 1.5 }, { order: NaN }, { name: '' }])
    it(`[SOV-02] [SOV-04] rejects ${JSON.stringify(options)}`, () => {
      expect(() => new StructuredOutputAdvisor(options)).to.throw(
        InvalidArgumentError,
        'StructuredOutputAdvisor: ',
      );
    });
});
