import { expect } from 'chai';
import type { Message } from '../../../src/index.js';
import { withHistory } from '../../../src/stores/chat-memory/history.js';
import { assistant, result, shortTexts, system, turn, user } from '../../support/conversation.js';

describe('withHistory', () => {
  const cases: Readonly<
    Record<
      string,
      readonly [remembered: readonly Message[], prompt: readonly Message[], sent: readonly string[]]
    >
  > = {
    'puts the history before the new message': [turn(1), [user('2?')], ['1?', '1!', '2?']],
    'puts the history between the system message and the new message': [
      turn(1),
      [system('s'), user('2?')],
      ['[s]', '1?', '1!', '2?'],
    ],
    'moves a system message to the front': [[], [user('1?'), system('s')], ['[s]', '1?']],
    'moves a system message before the history': [
      turn(1),
      [user('2?'), system('s')],
      ['[s]', '1?', '1!', '2?'],
    ],
    'puts remembered system messages behind the one of the prompt, once': [
      [system('s'), system('t'), ...turn(1)],
      [system('s'), user('2?')],
      ['[s]', '[t]', '1?', '1!', '2?'],
    ],
    'keeps a remembered system message that equals an answer': [
      [system('1!')],
      [...turn(1), user('2?')],
      ['[1!]', '1?', '1!', '2?'],
    ],
    'drops a history that the prompt repeats': [
      turn(1),
      [...turn(1), user('2?')],
      ['1?', '1!', '2?'],
    ],
    'drops a history that the prompt repeats behind other messages': [
      turn(2),
      [...turn(1), ...turn(2), user('3?')],
      ['1?', '1!', '2?', '2!', '3?'],
    ],
    'drops the end of a history with which the prompt begins': [
      [...turn(1), ...turn(2)],
      [...turn(2), ...turn(3), user('4?')],
      ['1?', '1!', '2?', '2!', '3?', '3!', '4?'],
    ],
    'drops a last answer with which the prompt begins': [
      turn(1),
      [assistant('1!'), user('2?')],
      ['1?', '1!', '2?'],
    ],
    'drops a history that the prompt repeats with a second system message inside': [
      turn(1),
      [system('s'), user('1?'), system('t'), assistant('1!'), user('2?')],
      ['[s]', '1?', '[t]', '1!', '2?'],
    ],
    'keeps a remembered question that is asked again': [[user('?')], [user('?')], ['?', '?']],
    'keeps a remembered question that is asked again after an answer': [
      [user('?')],
      [...turn(1), user('?')],
      ['?', '1?', '1!', '?'],
    ],
    'keeps a history that the prompt repeats in part only': [
      [...turn(1), ...turn(2)],
      [...turn(1), user('3?')],
      ['1?', '1!', '2?', '2!', '1?', '1!', '3?'],
    ],
  };
  for (const [title, [remembered, prompt, sent]] of Object.entries(cases))
    it(title, () => {
      expect(shortTexts(withHistory(remembered, prompt))).to.deep.equal(sent);
    });

  it('returns a prompt without a history unchanged', () => {
    for (const prompt of [[user('?')], [system('s'), user('?')]])
      expect(withHistory([], prompt)).to.equal(prompt);
  });

  it('[F60] finds a repeated turn whatever its metadata are', () => {
    const remembered = [user('1?'), { ...assistant('1!'), metadata: { stored: true } }];
    const prompt = [...turn(1), user('2?')];

    expect(withHistory(remembered as Message[], prompt)).to.deep.equal(prompt);
  });

  const answer = (text: string | null): Message => ({ role: 'assistant', content: text });
  const called = (change: object): Message => {
    const call = { id: 'a', name: 'look', arguments: '{}' };
    return { role: 'assistant', content: null, toolCalls: [{ ...call, ...change }] };
  };
  const different: Readonly<Record<string, readonly [Message, Message]>> = {
    text: [answer('1!'), answer('2!')],
    role: [user('1!'), answer('1!')],
    'call or no call': [called({}), answer(null)],
    'id of a call': [called({}), called({ id: 'b' })],
    'tool of a call': [called({}), called({ name: 'find' })],
    'arguments of a call': [called({}), called({ arguments: '{"id":1}' })],
    'call of a result': [result('a', 'same'), result('b', 'same')],
  };
  for (const [what, [one, other]] of Object.entries(different))
    it(`keeps a history that differs from the prompt in the ${what}`, () => {
      const prompt = [user('?'), one, assistant('.'), user('!')];

      expect(withHistory(prompt.slice(0, 3), prompt)).to.deep.equal(prompt);
      expect(withHistory([user('?'), other, assistant('.')], prompt)).to.have.length(7);
    });
});
