import { expect } from 'chai';
import { ChatClientResponse } from '../../../src/core/advisor/chat-client-response.js';
import { ChatResponse } from '../../../src/core/chat/chat-response.js';
import { AdvisorContext, ContextKey } from '../../../src/core/chat/context.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';

const TENANT = new ContextKey<string>('test.tenant', 'none');

describe('ChatClientResponse', () => {
  const answer = ChatResponse.ofText('Hello.').with({ id: '1', model: 'm', metadata: { a: 1 } });

  it('has all fields of the answer, and the answer itself', () => {
    const response = new ChatClientResponse(answer);

    expect(response).to.deep.include({
      generations: answer.generations,
      id: '1',
      model: 'm',
      metadata: { a: 1 },
    });
    expect([response.text, response.finishReason, response.hasToolCalls()]).to.deep.equal([
      'Hello.',
      'stop',
      false,
    ]);
    expect(response.chatResponse).to.equal(answer);
  });

  it('[CTX-20] has an empty context by default', () => {
    expect(new ChatClientResponse(answer).context).to.equal(AdvisorContext.empty);
  });

  it('[CTX-16] rejects a missing answer', () => {
    for (const nothing of [undefined, null, 'Hello.', {}])
      expect(() => new ChatClientResponse(nothing as unknown as ChatResponse)).to.throw(
        InvalidArgumentError,
        'ChatClientResponse: response must be a ChatResponse, not ',
      );
  });

  it('[CTX-19] is unchanged when a copy of it gets another answer or value', () => {
    const response = new ChatClientResponse(answer, AdvisorContext.empty.with(TENANT, 'a'));

    const copy = response.with({ id: '2' }).withContext(TENANT, 'b');

    expect([response.id, response.context.get(TENANT)]).to.deep.equal(['1', 'a']);
    expect([copy.id, copy.chatResponse.id, copy.text, copy.context.get(TENANT)]).to.deep.equal([
      '2',
      '2',
      'Hello.',
      'b',
    ]);
  });

  it('holds the plain answer, also if created from another response with a context', () => {
    const inner = new ChatClientResponse(answer, AdvisorContext.empty.with(TENANT, 'inner'));

    const outer = new ChatClientResponse(inner, AdvisorContext.empty);

    expect(outer.chatResponse).to.equal(answer);
    expect(outer.context.get(TENANT)).to.equal('none');
  });

  it('converts to an event with the plain answer', () => {
    const response = new ChatClientResponse(answer, AdvisorContext.empty.with(TENANT, 'a'));

    expect(response.toEvent()).to.deep.equal({
      type: 'response',
      response: answer,
      context: response.context,
    });
  });
});
