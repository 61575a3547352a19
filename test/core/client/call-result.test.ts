import { expect } from 'chai';
import { z } from 'zod';
import {
  CancelledError,
  ChatClient,
  ChatResponse,
  ContextKey,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  StructuredOutputError,
  textOf,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';

const City = z.object({ name: z.string() });
const NOTE = new ContextKey<string>('test.note', '');
const ask = (answer: ScriptedAnswer) =>
  ChatClient.create(new ScriptedChatModel([answer]))
    .prompt('?')
    .call();

describe('a call', () => {
  it('returns the text, the response, or the response with its context', async () => {
    const note = defineAdvisor({
      name: 'note',
      order: 0,
      before: (request) => request.withContext(NOTE, 'seen'),
    });
    const call = ChatClient.create(new ScriptedChatModel(() => 'hi'))
      .prompt('?')
      .advisors(note, (a) => a.param(CONVERSATION_ID, 'anna-7'))
      .call();

    expect(await call.content()).to.equal('hi');
    expect(await call.chatResponse())
      .to.be.instanceOf(ChatResponse)
      .with.property('text', 'hi');
    const { context, text } = await call.chatClientResponse();
    expect([text, context.get(NOTE), context.get(CONVERSATION_ID)]).to.deep.equal([
      'hi',
      'seen',
      'anna-7',
    ]);
  });

  it('[CLI-35] has null as content if the answer has no text', async () => {
    const refusal = await ask({ refusal: 'No.' }).chatResponse();

    expect(await ask({ refusal: 'No.' }).content()).to.equal(null);
    expect(refusal.message.refusal).to.equal('No.');
  });

  it('[CLI-34] has null as content if the answer has no generation', async () => {
    const model = {
      defaultOptions: {},
      call: async () => new ChatResponse({ generations: [] }),
      stream: () => undefined as never,
    };

    expect(await ChatClient.create(model).prompt('?').call().content()).to.equal(null);
  });

  it('keeps an empty text', async () => {
    expect(await ask('').content()).to.equal('');
  });

  it('calls no model until a method is called', () => {
    const model = new ScriptedChatModel(['1']);

    ChatClient.create(model).prompt('?').call();

    expect(model.prompts).to.have.lengthOf(0);
  });

  it('is one run: every method gives the same answer, also at the same time', async () => {
    const model = new ScriptedChatModel(['1']);
    const call = ChatClient.create(model).prompt('?').call();

    const [text, again] = await Promise.all([call.content(), call.content()]);
    const response = await call.chatClientResponse();

    expect([text, again, (await call.chatResponse()).text]).to.deep.equal(['1', '1', '1']);
    expect(response).to.equal(await call.chatClientResponse());
    expect(model.prompts).to.have.lengthOf(1);
  });

  it('runs tools and stores a turn once, whatever methods are called', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = new MessageWindowChatMemory({ repository });
    let runs = 0;
    const count = defineTool({ name: 'count', execute: () => ++runs });
    const call = ChatClient.create(
      new ScriptedChatModel([{ toolCalls: [{ name: 'count' }] }, 'One.']),
    )
      .prompt('Count.')
      .tools(count)
      .advisors(new MessageChatMemoryAdvisor({ chatMemory }), (a) => a.param(CONVERSATION_ID, 'a'))
      .call();

    await call.content();
    await call.chatResponse();

    expect(runs).to.equal(1);
    expect((await chatMemory.load('a')).messages).to.have.lengthOf(2);
  });

  it('is a run of its own for each call of one spec', async () => {
    const spec = ChatClient.create(new ScriptedChatModel(['1', '2'])).prompt('?');

    expect([await spec.call().content(), await spec.call().content()]).to.deep.equal(['1', '2']);
  });

  it('reads a value of the answer that is there, and sends a schema only with its run', async () => {
    const model = new ScriptedChatModel(['{"name":"Rome"}']);
    const call = ChatClient.create(model).prompt('?').call();

    const text = await call.content();
    const first = await call.entity(City);
    const { entity, response } = await call.responseEntity(z.object({ name: z.string().min(2) }));

    expect(text).to.equal('{"name":"Rome"}');
    expect([first, entity]).to.deep.equal([{ name: 'Rome' }, { name: 'Rome' }]);
    expect(response.text).to.equal(text);
    expect(model.prompts.map(({ messages }) => messages.length)).to.deep.equal([1]);
  });

  it('sends the schema of an entity that starts its run', async () => {
    const model = new ScriptedChatModel(['{"name":"Rome"}']);
    const call = ChatClient.create(model).prompt('?').call();

    await call.entity(City);

    expect(await call.content()).to.equal('{"name":"Rome"}');
    expect(textOf(model.prompts[0]?.userMessage?.content ?? '')).to.include('JSON Schema');
    expect(model.prompts).to.have.lengthOf(1);
  });

  it('has an answer also if a value that is read from it does not fit', async () => {
    const call = ask('plain');

    const error: unknown = await call.entity(City).catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(StructuredOutputError);
    expect(await call.content()).to.equal('plain');
  });

  it('starts no run for a schema that is invalid', async () => {
    const model = new ScriptedChatModel(['{"name":"Rome"}']);
    const call = ChatClient.create(model).prompt('?').call();

    const error: unknown = await call
      .entity(City, { mode: 'strict' as never })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect(model.prompts).to.have.lengthOf(0);

    expect(await call.entity(City)).to.deep.equal({ name: 'Rome' });
  });

  it('fails with the same error in every method, and asks the model once', async () => {
    const failure = new Error('down');
    const model = new ScriptedChatModel([failure, 'up']);
    const call = ChatClient.create(model).prompt('?').call();

    const results = await Promise.allSettled([
      call.content(),
      call.chatResponse(),
      call.chatClientResponse(),
      call.entity(City),
    ]);

    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : null));
    expect(reasons).to.deep.equal([failure, failure, failure, failure]);
    expect(await call.content().catch((error: unknown) => error)).to.equal(failure);
    expect(model.prompts).to.have.lengthOf(1);
  });

  it('fails in every method once its signal has ended it', async () => {
    const controller = new AbortController();
    const model = new ScriptedChatModel([{ text: 'slow', delay: 1_000 }, 'again']);
    const call = ChatClient.create(model).prompt('?').signal(controller.signal).call();
    const text = call.content().catch((error: unknown) => error);

    controller.abort();

    const error = await text;
    expect(error).to.be.instanceOf(CancelledError);
    expect(await call.chatResponse().catch((reason: unknown) => reason)).to.equal(error);
  });

  it('fails with the same error object as the model', async () => {
    const failure = new Error('down');

    const error = await ask(failure)
      .content()
      .catch((reason: unknown) => reason);

    expect(error).to.equal(failure);
  });
});
