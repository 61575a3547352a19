import { expect } from 'chai';
import {
  ChatClient,
  ChatResponse,
  ContextKey,
  CONVERSATION_ID,
  defineAdvisor,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';

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

  it('calls no model until a method is called, and once for each method', async () => {
    const model = new ScriptedChatModel(['1', '2', '3']);
    const call = ChatClient.create(model).prompt('?').call();
    expect(model.prompts).to.have.lengthOf(0);

    expect([
      await call.content(),
      await call.content(),
      (await call.chatResponse()).text,
    ]).to.deep.equal(['1', '2', '3']);
  });

  it('fails with the same error object as the model', async () => {
    const failure = new Error('down');

    const error = await ask(failure)
      .content()
      .catch((reason: unknown) => reason);

    expect(error).to.equal(failure);
  });
});
