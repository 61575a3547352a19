import { expect } from 'chai';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import {
  ChatClient,
  defineAdvisor,
  InvalidArgumentError,
  LimitExceededError,
  StructuredOutputError,
  textOf,
  type CallResult,
  type StructuredOutputReason,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import type { RunReport } from '../../../src/core/chat/run-report.js';
import type { InputSchema } from '../../../src/core/json-schema/index.js';
import '../../../src/core/json-schema/zod3.js';
import { AnthropicChatModel } from '../../../src/models/anthropic/index.js';
import { CohereChatModel } from '../../../src/models/cohere/index.js';
import { GoogleChatModel } from '../../../src/models/google/index.js';
import { OpenAIChatModel, OpenAIResponsesModel } from '../../../src/models/openai/index.js';

const City = z.object({ name: z.string(), population: z.number().int().default(0) });
const ROME = '{"name":"Rome","population":2750000}';
const rome = { name: 'Rome', population: 2_750_000 };

const answer = (scripted: ScriptedAnswer): CallResult =>
  ChatClient.create(new ScriptedChatModel([scripted]))
    .prompt('?')
    .call();

async function failure(
  scripted: ScriptedAnswer,
  schema: InputSchema = City,
): Promise<StructuredOutputError> {
  const error = await answer(scripted)
    .entity(schema)
    .catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(StructuredOutputError);
  return error as StructuredOutputError;
}

describe('entity', () => {
  it('returns a value of a zod 4 schema, with its defaults', async () => {
    const city = await answer('{"name":"Rome"}').entity(City);

    expect(city).to.deep.equal({ name: 'Rome', population: 0 });
  });

  it('returns a value of a zod 3 schema', async () => {
    const Schema = z3.object({ name: z3.string(), tags: z3.array(z3.string()).default(['x']) });

    expect(await answer('{"name":"Rome"}').entity(Schema)).to.deep.equal({
      name: 'Rome',
      tags: ['x'],
    });
  });

  it('returns a value of a JSON Schema', async () => {
    const schema = { type: 'array', items: { type: 'integer' } };

    expect(await answer('[1,2]').entity(schema)).to.deep.equal([1, 2]);
    const error = await answer('[1,"2"]')
      .entity(schema)
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(StructuredOutputError);
  });

  const Pet = z.union([z.object({ cat: z.string() }), z.object({ dog: z.number() })]);
  for (const [what, schema, text] of [
    ['a list', z.array(z.string()), '["a","b"]'],
    ['an enum', z.enum(['low', 'high']), '"high"'],
    ['a union', Pet, '{"dog":3}'],
  ] as const)
    it(`returns ${what} at the top, which models of objects get as text, in call and stream`, async () => {
      const script = () => new ScriptedChatModel([text]);
      const [called, streamed] = [script(), script()];
      const value: unknown = JSON.parse(text);

      const entity = await ChatClient.create(called).prompt('?').call().entity(schema);
      const parts: unknown[] = [];
      const stream = ChatClient.create(streamed).prompt('?').stream();
      for await (const part of stream.partialEntity<InputSchema>(schema)) parts.push(part);

      expect([entity, parts.at(-1)]).to.deep.equal([value, value]);
      for (const { prompts } of [called, streamed])
        expect(prompts[0] && textOf(prompts[0].messages.at(-1) ?? null)).to.include('JSON Schema');
      const wires = [
        OpenAIChatModel,
        OpenAIResponsesModel,
        AnthropicChatModel,
        GoogleChatModel,
        CohereChatModel,
      ];
      const models = wires.map((Wire) => new Wire({ apiKey: 'k', model: 'm' }));
      expect(models.map((model) => model.supportsSchema(z.toJSONSchema(schema)))).to.deep.equal(wires.map(() => false)); // prettier-ignore
    });

  it('[SOV-17] returns lists, maps and plain values', async () => {
    expect(await answer('["a"]').entity(z.array(z.string()))).to.deep.equal(['a']);
    expect(await answer('[]').entity(z.array(z.string()))).to.deep.equal([]);
    expect(await answer('{"a":1}').entity(z.record(z.string(), z.number()))).to.deep.equal({
      a: 1,
    });
    expect(await answer('7').entity(z.number())).to.equal(7);
    expect(await answer('true').entity(z.boolean())).to.equal(true);
    expect(await answer('null').entity(z.string().nullable())).to.equal(null);
  });

  it('returns the response with the value', async () => {
    const { response, entity } = await answer({ text: ROME, finishReason: 'stop' }).responseEntity(
      City,
    );

    expect(entity).to.deep.equal(rome);
    expect([response.text, response.finishReason]).to.deep.equal([ROME, 'stop']);
  });

  it('[SOV-21] appends the schema to the user text for the model, invisible to advisors', async () => {
    const model = new ScriptedChatModel([ROME]);
    let seen: unknown;
    const watcher = defineAdvisor({
      name: 'watcher',
      order: 9_999,
      before: ({ prompt }) => void (seen = prompt.userMessage),
    });

    await ChatClient.create(model)
      .prompt('Which city? {not a template}')
      .advisors(watcher)
      .call()
      .entity(City);

    const text = textOf(model.prompts[0]?.userMessage?.content ?? '');
    expect(text).to.match(/^Which city\? \{not a template\}\nAnswer with JSON/);
    expect(text).to.include('"required":["name"]');
    expect(model.prompts[0]?.options.responseFormat).to.equal(undefined);
    expect(seen).to.deep.equal({ role: 'user', content: 'Which city? {not a template}' });
  });

  it('[SOV-27] sends descriptions, the order of properties and nullability of the schema', async () => {
    const model = new ScriptedChatModel(['{"zip":null,"city":"Rome"}']);
    const Address = z.object({
      zip: z.string().nullable().describe('Five digits'),
      city: z.string(),
    });

    await ChatClient.create(model).prompt('?').call().entity(Address);

    const text = textOf(model.prompts[0]?.userMessage?.content ?? '');
    const { properties } = JSON.parse(text.slice(text.indexOf('{'))) as { properties: object };
    expect(Object.keys(properties)).to.deep.equal(['zip', 'city']);
    expect(properties).to.have.nested.property('zip.description', 'Five digits');
    expect(JSON.stringify(properties)).to.include('"null"');
  });

  it('[SOV-05] calls the model once for each request and leaves the spec unchanged', async () => {
    const model = new ScriptedChatModel([ROME, 'plain']);
    const spec = ChatClient.create(model).prompt('?');

    await spec.call().entity(City);
    expect(model.prompts).to.have.lengthOf(1);
    await spec.call().content();

    expect(model.prompts[1]?.messages).to.deep.equal([{ role: 'user', content: '?' }]);
  });

  const fenced: readonly (readonly [string, string])[] = [
    ['a fence on one line', `\`\`\`${ROME}\`\`\``],
    ['a fence on one line with a language', `\`\`\`json ${ROME} \`\`\``],
    ['a fence whose language touches the JSON', `\`\`\`json${ROME}\`\`\``],
    ['a fence on one line in a sentence', `It is \`\`\`json ${ROME}\`\`\`, I think.`],
    ['a fence that does not end', `\`\`\`json\n${ROME}`],
    ['a fence whose language has attributes', `\`\`\`json title="a b"\n${ROME}\n\`\`\``],
    ['a span of code', `It is \`${ROME}\`.`],
    ['a longer fence', `\`\`\`\`json\n${ROME}\n\`\`\`\``],
    ['a fence of tildes', `~~~json\n${ROME}\n~~~`],
    ['a fence with Windows line ends', `\`\`\`json\r\n${ROME}\r\n\`\`\`\r\n`],
    ['text after a fenced block of thinking', `\`\`\`thinking\n{"name": 7}\n\`\`\`\n${ROME}`],
    [
      'a fence after a fenced block of thinking',
      `\`\`\`thinking\nhm\n\`\`\`\n\`\`\`json\n${ROME}\n\`\`\``,
    ],
    [
      'the one of several fences that fits',
      `\`\`\`js\nf()\n\`\`\`\n\`\`\`json\n{"name":7}\n\`\`\`\n\`\`\`json\n${ROME}\n\`\`\``,
    ],
  ];

  const wrapped: readonly (readonly [string, string])[] = [
    ['white space', `\n  ${ROME}\n`],
    ['a code fence', `\`\`\`json\n${ROME}\n\`\`\``],
    ['a code fence without language', `\`\`\`\n${ROME}\`\`\``],
    ['chatter around a code fence', `Here you are:\n\n\`\`\`json\n${ROME}\n\`\`\`\nAnything else?`],
    ['thinking', `<think>I need {"name": …} here.</think>\n${ROME}`],
    ['thinking whose opening tag is missing', `hm, Rome\n</think>\n\n${ROME}`],
    ['thinking in upper case', `<REASONING>{}</REASONING>${ROME}`],
    [
      'several thoughts and a code fence',
      `<thinking>a</thinking><reasoning>\`\`\`x\n1\`\`\`</reasoning>\`\`\`json\n${ROME}\n\`\`\``,
    ],
  ];
  for (const [what, text] of fenced)
    it(`[D25] reads JSON in ${what}`, async () => {
      expect(await answer(text).entity(City)).to.deep.equal(rome);
    });

  it('[D25] reads plain values in a code fence', async () => {
    expect(await answer('```7```').entity(z.number())).to.equal(7);
    expect(await answer('``` true ```').entity(z.boolean())).to.equal(true);
    expect(await answer('```json null```').entity(z.null())).to.equal(null);
  });

  it('[D25] reads a code fence whose JSON has a code fence in a string', async () => {
    const value = { code: '```js {\n1\n```' };
    const Code = z.object({ code: z.string() });
    const text = `\`\`\`js\nf()\n\`\`\`\n\`\`\`json\n${JSON.stringify(value)}`;

    expect(await answer(text).entity(Code)).to.deep.equal(value);
    expect(await answer(`${text}\n\`\`\``).entity(Code)).to.deep.equal(value);
  });

  for (const [what, text] of wrapped) {
    it(`[F81] [SOV-26] ignores ${what}`, async () => {
      expect(await answer(text).entity(City)).to.deep.equal(rome);
    });
  }

  const reasons: readonly (readonly [StructuredOutputReason, ScriptedAnswer])[] = [
    ['refusal', { refusal: 'No.' }],
    ['refusal', { text: '', finishReason: 'content_filter' }],
    ['empty', ' \n'],
    ['not-json', 'Rome'],
    ['mismatch', '{"name":7}'],
    ['mismatch', '```json\n{"name":7}\n``` or ```json\n{"name":8}\n```'],
    ['cut-off', { text: '{"name":"Ro', finishReason: 'length' }],
    ['cut-off', { text: '', finishReason: 'MAX_TOKENS' }],
  ];
  for (const [reason, scripted] of reasons)
    it(`[D26] fails with the reason "${reason}" for ${JSON.stringify(scripted)}`, async () => {
      const error = await failure(scripted);

      expect(error.reason).to.equal(reason);
      expect((error as { run?: RunReport }).run?.steps).to.have.lengthOf(1);
    });

  it('[F81] keeps valid JSON unchanged, whatever texts it contains', async () => {
    const value = { code: '```js\n{"a":1}\n```', note: '</think>' };

    expect(
      await answer(JSON.stringify(value)).entity(z.object({ code: z.string(), note: z.string() })),
    ).to.deep.equal(value);
  });

  it('[SOV-08] fails with the text and all issues if the answer does not fit', async () => {
    const error = await failure('{"name":7,"population":1.5}');

    expect(error.code).to.equal('structured_output');
    expect(error.text).to.equal('{"name":7,"population":1.5}');
    expect(error.issues).to.have.lengthOf(2);
    expect(error.message).to.match(/^The answer does not fit the schema: name: .+; population: /);
  });

  it('[SOV-12] fails with the reason if the answer is not JSON', async () => {
    const error = await failure('I think it is Rome.');

    expect(error.message).to.match(/^The answer is not JSON: not valid JSON: /);
    expect(error.cause).to.have.property('code', 'json');
  });

  it('fails if JSON follows other text without a fence', async () => {
    await failure(`It is ${ROME}`);
  });

  it('[F16] fails if a key is duplicated', async () => {
    expect((await failure('{"name":"Rome","name":"Bari"}')).message).to.include(
      'the key "name" is given twice',
    );
  });

  it('[SOV-12] fails if the answer is empty', async () => {
    expect((await failure('')).message).to.equal('The answer is not JSON: it is empty');
    expect((await failure(' \n')).message).to.equal('The answer is not JSON: it is empty');
  });

  it('fails with the refusal of the model', async () => {
    const error = await failure({ refusal: 'I cannot answer that.' });

    expect(error.message).to.equal('The model refused: I cannot answer that.');
  });

  it('reports that the answer was truncated', async () => {
    const error = await failure({ text: '{"name":"Ro', finishReason: 'length' });

    expect(error.message).to.match(/\. It was cut off at its token limit; raise maxTokens$/);
  });

  for (const [what, schema, problem] of [
    ['a text that is not JSON', 'City', 'the schema "City" is not valid JSON'],
    ['a number', 7 as never, 'the schema must be a zod schema'],
    ['a type without JSON', z.object({ at: z.date() }), 'z.coerce.date() makes a date from text'],
  ] as const)
    it(`[D26] rejects ${what} as an argument of entity(…), before the model is called`, async () => {
      const model = new ScriptedChatModel([]);

      const error: unknown = await ChatClient.create(model)
        .prompt('?')
        .call()
        .entity(schema)
        .catch((reason: unknown) => reason);

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect((error as Error).message).to.match(/^entity\(…\): /);
      expect((error as Error).message).to.include(problem);
      expect(model.prompts).to.deep.equal([]);
    });

  it('[D69] takes a JSON Schema as text', async () => {
    const schema = '{"type":"array","items":{"type":"integer"}}';

    expect(await answer('[1,2]').entity(schema)).to.deep.equal([1, 2]);
    expect((await failure('[1,"2"]', schema)).issues).to.have.lengthOf(1);
  });

  for (const [version, schema] of [
    ['4', z.object({ at: z.coerce.date(), size: z.string().transform((text) => text.length) })],
    ['3', z3.object({ at: z3.coerce.date(), size: z3.string().transform((text) => text.length) })],
  ] as const)
    it(`[D26] asks for what goes into a schema of zod ${version} and returns what comes out`, async () => {
      const model = new ScriptedChatModel(['{"at":"2026-05-01T10:00:00Z","size":"four"}']);

      const value = await ChatClient.create(model).prompt('?').call().entity(schema);

      expect(value).to.deep.equal({ at: new Date('2026-05-01T10:00:00Z'), size: 4 });
      expect(model.prompts[0]?.userMessage?.content)
        .to.include('"at":{"type":"string","format":"date-time"}')
        .and.include('"size":{"type":"string"}');
    });

  it('[F85] reads hostile answers in linear time', async function () {
    // in quadratic time this would take minutes
    this.timeout(10_000);
    const texts = [
      '```' + '\n'.repeat(100_000),
      '<think>'.repeat(20_000),
      '```\n'.repeat(30_000) + 'x',
      '</think'.repeat(20_000),
      '`'.repeat(100_000),
      '~~~ '.repeat(30_000),
      '```{'.repeat(30_000),
      '```thinking\n'.repeat(10_000),
      '```[{"a":'.repeat(10_000),
    ];

    for (const text of texts) await failure({ text });
  });

  const lists = '[],'.repeat(2_000_000);
  for (const [what, text] of Object.entries({
    'JSON of many small values': `[${lists}[]]`,
    'a code fence with such JSON': `Here:\n\`\`\`json\n[${lists}[]]\n\`\`\``,
    'such JSON after an odd quotation mark': `12" screens:\n\`\`\`json\n[${lists}[]]\n\`\`\``,
    'many code fences': '```[[],[],[]]```\n'.repeat(100_000),
  }))
    it(`[D52] refuses ${what} before it is parsed`, async () => {
      const result = answer({ text, usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } });

      const error = await result.entity(z.array(z.unknown())).catch((reason: unknown) => reason);

      expect(error)
        .to.be.instanceOf(LimitExceededError)
        .and.deep.include({
          limit: 'entity-values',
          value: 250_000,
          option: 'maxValues',
          message:
            'The answer may have more than 250000 JSON values; raise maxValues to change it.',
          partialText: text,
          usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
        });
      expect(error).to.have.nested.property('run.steps.length', 1);
    });

  it('[D52] accepts as many values as the limit', async () => {
    const numbers = z.array(z.number());

    // the list is one, too
    expect(await answer('[1,2,3]').entity(numbers, { maxValues: 4 })).to.deep.equal([1, 2, 3]);
    const error = await answer('[1,2,3]')
      .entity(numbers, { maxValues: 3 })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(LimitExceededError);
  });

  it('treats null for an optional field as absent', async () => {
    const person = z.object({ name: z.string(), age: z.number().optional() });

    expect(await answer('{"name":"x","age":null}').entity(person)).to.deep.equal({ name: 'x' });
  });
});
