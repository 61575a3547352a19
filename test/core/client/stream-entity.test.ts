import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  LimitExceededError,
  StructuredOutputError,
  type ChatModel,
  type EntityOptions,
  type StreamResult,
} from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { beginEvents, chunk, sendEvent, sendText, WireServer } from '../../support/wire-server.js';
import { sweep } from '../../support/sweep.js';

const City = z.object({ name: z.string(), people: z.int().optional() });
const ROME = '{"name":"Rome","people":27}';
const rome = { name: 'Rome', people: 27 };

const stream = (...script: readonly ScriptedAnswer[]): StreamResult =>
  ChatClient.create(new ScriptedChatModel(script)).prompt('?').stream();

/** The values of partialEntity, and the error that ended them. */
function valuesOf(
  result: StreamResult,
  schema: z.ZodType = City,
  options?: EntityOptions,
): Promise<{ readonly values: readonly unknown[]; readonly error?: unknown }> {
  const values: unknown[] = [];
  return new Promise((resolve) => {
    result.partialEntity(schema, options).subscribe({
      next: (value) => values.push(value),
      error: (error: unknown) => resolve({ values, error }),
      complete: () => resolve({ values }),
    });
  });
}

describe('stream().partialEntity(schema)', () => {
  it('[D26] emits the value as it grows, each only once, and last the checked value', async () => {
    const deltas = ['{', ' ', '"na', 'me":"Ro', 'me"', ',"people":2', '7', '}'];

    const { values, error } = await valuesOf(stream({ deltas }));

    expect(error).to.equal(undefined);
    expect(values).to.deep.equal([{}, { name: 'Ro' }, { name: 'Rome' }, rome]);
  });

  it('[D26] emits coerced and transformed values at the end', async () => {
    const schema = z.object({
      at: z.coerce.date(),
      tags: z.array(z.string()).default(['none']),
    });
    const deltas = ['{"at":"2026-05-', '01"', '}'];

    const { values } = await valuesOf(stream({ deltas }), schema);

    expect(values).to.deep.equal([
      { at: '2026-05-' },
      { at: '2026-05-01' },
      { at: new Date('2026-05-01'), tags: ['none'] },
    ]);
  });

  it('[D26] emits no property that is null before the end', async () => {
    const schema = z.object({ a: z.string().optional(), b: z.string().nullable() });

    const { values } = await valuesOf(stream({ deltas: ['{"a":null,', '"b":null}'] }), schema);

    expect(values).to.deep.equal([{}, { b: null }]);
  });

  for (const [what, deltas] of Object.entries({
    'a code fence': ['Here:\n``', '`js', 'on\n', ROME, '\n```'],
    'a fence on one line': ['```json', ` ${ROME}`, '```'],
    'a fence with attributes': ['```json title="a b"\n', ROME, '\n```'],
    'the start of a span of code': ['It is `', ROME, '`'],
    'tags of thinking': ['<thi', 'nk>{"name":7}</think>', '\n', ROME],
    'drafts in thinking': ['<think>a</think><think>`{"name":', '7}`', '</think>', ROME],
    'thinking without its first tag': ['{"people":', '1} hm </think>', ROME],
    'a fenced block of thinking': ['```thinking\n{"a', '":1}\n```\n', ROME],
    'other text that has braces': ['The {city} is ```', ROME, '```'],
  }))
    it(`[D25] finds the value after ${what}`, async () => {
      const { values, error } = await valuesOf(stream({ deltas }));

      expect(error).to.equal(undefined);
      expect(values.at(-1)).to.deep.equal(rome);
      expect(values.filter((value) => 'name' in (value as object))).to.deep.equal([rome]);
    });

  it('[D26] starts again after a retraction, and after an iteration that asked for tools', async () => {
    const look = defineTool({ name: 'look', execute: () => 'x' });
    const script = [
      { text: '{"name":"Oslo"', toolCalls: [{ name: 'look' }] },
      { deltas: ['{"name":"Mil', 'an","people":1}'] },
      { deltas: ['{"name":"Ro', 'me","people":27}'] },
    ];
    let refusals = 0;
    const askTwice = defineAdvisor({
      name: 'ask twice',
      order: 9_999,
      around: async (request, next) => {
        const response = await next(request);
        return response.hasToolCalls() || refusals++ > 0 ? response : next(request);
      },
    });
    const client = ChatClient.create(new ScriptedChatModel(script));

    const { values } = await valuesOf(client.prompt('?').tools(look).advisors(askTwice).stream());

    expect(values).to.deep.equal([
      { name: 'Oslo' },
      { name: 'Mil' },
      { name: 'Milan', people: 1 },
      { name: 'Ro' },
      rome,
    ]);
  });

  it('[D26] ends with an error if the answer does not fit, or the schema is invalid', async () => {
    const { values, error } = await valuesOf(stream({ deltas: ['{"name":', '7}'] }));
    const invalid = await valuesOf(stream(ROME), z.date());

    expect(values).to.deep.equal([{}, { name: 7 }]);
    expect(error).to.be.instanceOf(StructuredOutputError).with.property('reason', 'mismatch');
    expect(error).to.have.nested.property('run.steps.length', 1);
    expect(invalid.error).to.be.instanceOf(InvalidArgumentError);
  });

  it('[D26] reads lists with many items in linear time', async () => {
    const list = JSON.stringify(Array.from({ length: 100_000 }, (_item, at) => at));
    const deltas = list.match(/.{1,4}/g) ?? [];

    const { values } = await valuesOf(stream({ deltas }), z.array(z.number()));

    const copied = values.reduce<number>((sum, value) => sum + (value as []).length, 0);
    expect(copied).to.be.lessThan(30 * list.length);
    expect(values.at(-1)).to.have.lengthOf(100_000);
  });

  it('[D52] shows no more values than the limit and refuses the answer', async () => {
    const result = stream({ deltas: ['[1,2', ',3', ',4', ']'] });

    const { values, error } = await valuesOf(result, z.array(z.number()), { maxValues: 4 });

    expect(values).to.deep.equal([[1], [1, 2]]);
    expect(error).to.be.instanceOf(LimitExceededError).with.property('option', 'maxValues');
    expect(error).to.have.nested.property('run.steps.length', 1);
  });

  it('[D52] counts the values of an answer, not of what was retracted before', async () => {
    const retry = defineAdvisor({
      name: 'retry',
      order: 0,
      around: async (request, next) => {
        await next(request);
        return next(request);
      },
    });
    const model = new ScriptedChatModel([{ deltas: ['[1,', '2,3]'] }, { deltas: ['[4,', '5,6]'] }]);
    const result = ChatClient.create(model).prompt('?').advisors(retry).stream();

    const { values, error } = await valuesOf(result, z.array(z.number()), { maxValues: 4 });

    expect(error).to.equal(undefined);
    expect(values.at(-2)).to.deep.equal([4]);
    expect(values.at(-1)).to.deep.equal([4, 5, 6]);
  });

  it('[D25] finds the value of `entity`, however it is wrapped and cut', async () => {
    const wraps: readonly ((json: string) => string)[] = [
      (json) => ` ${json}\n`,
      (json) => `\`\`\`json\n${json}\n\`\`\``,
      (json) => `So \`\`\`${json}\`\`\``,
      (json) => `~~~js\r\n${json}`,
      (json) => `<think>{"a":</think>${json}`,
      (json) => `\`\`\`thinking\n[1]\`\`\`\n\`${json}\``,
    ];
    const values = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 });
    await fc.assert(
      fc.asyncProperty(
        values
          .filter((value) => !JSON.stringify(value).includes('proto'))
          // integers that lose digits as a number are refused, see parseWritten
          .filter((value) => !/\d{16}/.test(JSON.stringify(value)))
          // an empty object or list at the end is whole before it is closed
          .filter((value) => !/(\{\}|\[\])\}$/.test(JSON.stringify(value))),
        fc.constantFrom(...wraps),
        fc.integer({ min: 1, max: 5 }), // the shortest JSON has six characters
        async (value, wrap, size) => {
          const json = JSON.stringify(value);
          const deltas = wrap(json).match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

          const { values: found } = await valuesOf(stream({ deltas }), z.any());

          const parts = found.filter((part) => JSON.stringify(part) !== json);
          expect(found.at(-1)).to.deep.equal(JSON.parse(json));
          expect(parts.length).to.be.greaterThan(0);
          for (const part of parts)
            expect(Object.keys(value)).to.include.members(Object.keys(part as object));
        },
      ),
      { numRuns: sweep(1_000) },
    );
  });

  it('[D26] leaves a run that a Promise has started to others if the schema is invalid', async () => {
    const model = new ScriptedChatModel([ROME, ROME]);
    const result = ChatClient.create(model).prompt('?').stream();
    const response = result.finalResponse();
    let text = '';

    const { error } = await valuesOf(result, z.date());
    for await (const piece of result) text += piece;

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect([text, (await response).text]).to.deep.equal([ROME, ROME]);
    expect(model.prompts).to.have.lengthOf(1);
  });

  it('[D26] is async-iterable', async () => {
    const values: unknown[] = [];

    for await (const value of stream(ROME).partialEntity(City)) values.push(value);

    expect(values.at(-1)).to.deep.equal(rome);
  });
});

describe('stream().entity(schema)', () => {
  it('[D26] [SOV-14] returns the value of a run', async () => {
    const model = new ScriptedChatModel([ROME]);

    expect(await ChatClient.create(model).prompt('?').stream().entity(City)).to.deep.equal(rome);

    expect(model.prompts[0]?.userMessage?.content).to.match(/^\?\nAnswer with JSON/);
  });

  it('[D26] belongs to the run that was started last: before, during and after', async () => {
    const model = new ScriptedChatModel([ROME, ROME]);
    const result = ChatClient.create(model).prompt('?').stream();
    const values: unknown[] = [];

    const before = result.entity(City);
    let during: Promise<unknown> | undefined;
    for await (const value of result.partialEntity(City)) {
      during ??= result.entity(City);
      values.push(value);
    }
    const after = result.entity(City);

    expect(await Promise.all([before, during, after])).to.deep.equal([rome, rome, rome]);
    expect(values.at(-1)).to.deep.equal(rome);
    expect(model.prompts).to.have.lengthOf(1);
    expect((await result.finalResponse()).text).to.equal(ROME);
  });

  it('[D26] adds the schema to the runs that it starts only', async () => {
    const model = new ScriptedChatModel(['Rome.']);
    const result = ChatClient.create(model).prompt('?').stream();
    for await (const _text of result);

    const error: unknown = await result.entity(City).catch((reason: unknown) => reason);

    expect(error).to.have.property('reason', 'not-json');
    expect(model.prompts.map(({ userMessage }) => userMessage?.content)).to.deep.equal(['?']);
  });

  for (const [reason, scripted] of [
    ['refusal', { refusal: 'No.' }],
    ['empty', ' '],
    ['not-json', 'Rome'],
    ['mismatch', '{"name":7}'],
    ['cut-off', { text: '{"name":"Ro', finishReason: 'length' }],
  ] as const)
    it(`[D26] rejects with the reason "${reason}"`, async () => {
      const error: unknown = await stream(scripted)
        .entity(City)
        .catch((cause: unknown) => cause);

      expect(error).to.be.instanceOf(StructuredOutputError);
      expect(error).to.have.property('reason', reason);
      expect(error).to.have.nested.property('run.ledger.length', 1);
    });

  it('[D26] does not end the process if its rejection has no handler', async () => {
    const result = stream('Rome');
    const unhandled: unknown[] = [];
    const listener = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', listener);

    void result.entity(City);
    await result.finalResponse();
    await new Promise((resolve) => setTimeout(resolve));

    process.off('unhandledRejection', listener);
    expect(unhandled).to.deep.equal([]);
  });

  it('[D26] rejects an invalid schema before a model is called', async () => {
    const model = new ScriptedChatModel([]);

    const error: unknown = await ChatClient.create(model)
      .prompt('?')
      .stream()
      .entity('City')
      .catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect(model.prompts).to.deep.equal([]);
  });
});

describe('entities of a stream of an OpenAIChatModel', () => {
  it('[D26] come from a response_format, piece by piece', async () => {
    const server = await WireServer.start((exchange) => {
      beginEvents(exchange);
      for (const content of ['{"name":', '"Ro', 'me","people"', ':null}'])
        sendEvent(exchange, chunk({ content }));
      sendEvent(exchange, chunk({}, 'stop'));
      sendEvent(exchange, '[DONE]');
      exchange.response.end();
    });
    const model: ChatModel = new OpenAIChatModel({ apiKey: 'k', baseURL: server.baseURL });
    const result = ChatClient.create(model).prompt('?').stream();

    const { values } = await valuesOf(result);

    const { body } = await server.nextExchange(1);
    expect(values).to.deep.equal([{}, { name: 'Ro' }, { name: 'Rome' }]);
    expect(await result.entity(City)).to.deep.equal({ name: 'Rome' });
    expect(body).to.have.nested.property('response_format.json_schema.strict', true);
    expect(server.exchanges).to.have.lengthOf(1);
    await server.close();
  });

  it('[D26] come from instructions if the provider rejects response_format', async () => {
    const server = await WireServer.start((exchange) => {
      if (exchange.body['response_format'] === undefined) return sendText(exchange, ROME);
      const error = { message: "'response_format' of type 'json_schema' is not supported" };
      return exchange.response.writeHead(400).end(JSON.stringify({ error }));
    });
    const model = new OpenAIChatModel({ apiKey: 'k', baseURL: server.baseURL });
    const result = ChatClient.create(model).prompt('?').stream();

    expect(await result.entity(City)).to.deep.equal(rome);

    const { ledger } = await result.finalResponse();
    expect(ledger.map(({ outcome }) => outcome)).to.deep.equal(['failed', 'answered']);
    await server.close();
  });
});
