import { expect } from 'chai';
import { newMessagesOf } from '../../../advisors/message-chat-memory/question.js';
import { calls, result, shortTexts, system, turn, user } from '../../support/conversation.js';

describe('newMessagesOf', () => {
  it('selects the messages after the last answer, without system messages', () => {
    const prompt = [system('s'), ...turn(1), user('2?'), system('t'), user('3?')];

    expect(shortTexts(newMessagesOf(prompt, []))).to.deep.equal(['2?', '3?']);
  });

  it('selects all user messages of a prompt without an answer', () => {
    expect(shortTexts(newMessagesOf([system('s'), user('1?'), user('2?')], []))).to.deep.equal([
      '1?',
      '2?',
    ]);
  });

  it('selects an empty result of a call, and no blank question', () => {
    const prompt = [user('?'), calls('a'), result('a', ''), user(' \n')];

    expect(newMessagesOf(prompt, [calls('a')])).to.deep.equal([result('a', '')]);
    expect(newMessagesOf(prompt, [])).to.deep.equal(prompt.slice(0, 3));
  });
});
