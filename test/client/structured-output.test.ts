import { expect } from 'chai';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { ChatClient, defineAdvisor, StructuredOutputError, textOf, ToolDefinitionError, type CallResult } from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';

const City = z.object({ name: z.string(), population: z.number().int().default(0) });
const ROME = '{"name":"Rome","population":2750000}';
const rome = { name: 'Rome', population: 2_750_000 };

const answer = (scripted: ScriptedAnswer): CallResult =>
  ChatClient.create(new ScriptedChatModel([scripted]))
    .prompt('?')
    .call();

async function failure(scripted: ScriptedAnswer): Promise<StructuredOutputError> {
  const error = await answer(scripted)
    .entity(City)
    .catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(StructuredOutputError);
  return error as StructuredOutputError;
}

describe('entity', () => {
  it('gives the answer as a value of a zod 4 schema, with its defaults', async () => {
    const city = await answer('{"name":"Rome"}').entity(City);

    expect(city).to.deep.equal({ name: 'Rome', population: 0 });
  });

  it('gives the answer as a value of a zod 3 schema', async () => {
    const Schema = z3.object({ name: z3.string(), tags: z3.array(z3.string()).default(['x']) });

    expect(await answer('{"name":"Rome"}').entity(Schema)).to.deep.equal({ name: 'Rome', tags: ['x'] });
  });

  it('gives the answer as a value of a JSON Schema', async () => {
    const schema = { type: 'array', items: { type: 'integer' } };

    expect(await answer('[1,2]').entity(schema)).to.deep.equal([1, 2]);
    const error = await answer('[1,"2"]')
      .entity(schema)
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(StructuredOutputError);
  });

  it('gives lists and plain values too', async () => {
    expect(await answer('["a"]').entity(z.array(z.string()))).to.deep.equal(['a']);
    expect(await answer('7').entity(z.number())).to.equal(7);
    expect(await answer('null').entity(z.string().nullable())).to.equal(null);
  });

  it('gives the response beside the value', async () => {
    const { response, entity } = await answer({ text: ROME, finishReason: 'stop' }).responseEntity(City);

    expect(entity).to.deep.equal(rome);
    expect([response.text, response.finishReason]).to.deep.equal([ROME, 'stop']);
  });

  it('tells the model the schema after the user text, which the advisors see without it', async () => {
    const model = new ScriptedChatModel([ROME]);
    let seen: unknown;
    const watcher = defineAdvisor({ name: 'watcher', order: 9_999, before: ({ prompt }) => void (seen = prompt.userMessage) });

    await ChatClient.create(model).prompt('Which city? {not a template}').advisors(watcher).call().entity(City);

    const text = textOf(model.prompts[0]?.userMessage?.content ?? '');
    expect(text).to.match(/^Which city\? \{not a template\}\nAnswer with JSON/);
    expect(text).to.include('"required":["name"]');
    expect(seen).to.deep.equal({ role: 'user', content: 'Which city? {not a template}' });
  });

  it('asks anew each time, and leaves the spec as it was', async () => {
    const model = new ScriptedChatModel([ROME, 'plain']);
    const call = ChatClient.create(model).prompt('?').call();

    await call.entity(City);
    await call.content();

    expect(model.prompts[1]?.messages).to.deep.equal([{ role: 'user', content: '?' }]);
  });

  const wrapped: readonly (readonly [string, string])[] = [
    ['white space', `\n  ${ROME}\n`],
    ['a code fence', `\`\`\`json\n${ROME}\n\`\`\``],
    ['a code fence without language', `\`\`\`\n${ROME}\`\`\``],
    ['chatter around a code fence', `Here you are:\n\n\`\`\`json\n${ROME}\n\`\`\`\nAnything else?`],
    ['thinking', `<think>I need {"name": …} here.</think>\n${ROME}`],
    ['thinking whose opening tag is missing', `hm, Rome\n</think>\n\n${ROME}`],
    ['several thoughts and a code fence', `<thinking>a</thinking><reasoning>\`\`\`x\n1\`\`\`</reasoning>\`\`\`json\n${ROME}\n\`\`\``],
  ];
  for (const [what, text] of wrapped) {
    it(`[F81] passes over ${what}`, async () => {
      expect(await answer(text).entity(City)).to.deep.equal(rome);
    });
  }

  it('[F81] takes valid JSON as it is, whatever its texts look like', async () => {
    const value = { code: '```js\n{"a":1}\n```', note: '</think>' };

    expect(await answer(JSON.stringify(value)).entity(z.object({ code: z.string(), note: z.string() }))).to.deep.equal(value);
  });

  it('fails with the text and all issues where the answer does not fit', async () => {
    const error = await failure('{"name":7,"population":1.5}');

    expect(error.code).to.equal('structured_output');
    expect(error.text).to.equal('{"name":7,"population":1.5}');
    expect(error.issues).to.have.lengthOf(2);
    expect(error.message).to.match(/^The answer does not fit the schema: name: .+; population: /);
  });

  it('fails where the answer is not JSON, with the reason', async () => {
    const error = await failure('I think it is Rome.');

    expect(error.message).to.match(/^The answer is not JSON: not valid JSON: /);
    expect(error.cause).to.have.property('code', 'json');
  });

  it('fails where JSON follows chatter without a fence: what belongs to it could only be guessed', async () => {
    await failure(`It is ${ROME}`);
  });

  it('[F16] fails where a key is given twice', async () => {
    expect((await failure('{"name":"Rome","name":"Bari"}')).message).to.include('the key "name" is given twice');
  });

  it('fails where the answer is empty', async () => {
    expect((await failure('')).message).to.equal('The answer is not JSON: it is empty');
    expect((await failure(' \n')).message).to.equal('The answer is not JSON: it is empty');
  });

  it('fails where the model refused, with its words', async () => {
    const error = await failure({ refusal: 'I cannot say that.' });

    expect(error.message).to.equal('The model refused: I cannot say that.');
  });

  it('says so where the answer was cut off', async () => {
    const error = await failure({ text: '{"name":"Ro', finishReason: 'length' });

    expect(error.message).to.match(/\. It was cut off at its token limit; raise maxTokens$/);
  });

  it('refuses what is no schema before the model is asked', async () => {
    const model = new ScriptedChatModel([]);

    const error = await ChatClient.create(model)
      .prompt('?')
      .call()
      .entity('City' as never)
      .catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(ToolDefinitionError);
    expect(model.prompts).to.deep.equal([]);
  });

  it('[F85] reads hostile answers in linear time', async function () {
    // in quadratic time this would take minutes
    this.timeout(10_000);
    const texts = ['```' + '\n'.repeat(100_000), '<think>'.repeat(20_000), '```\n'.repeat(30_000) + 'x', '</think'.repeat(20_000)];

    for (const text of texts) await failure({ text });
  });
});
