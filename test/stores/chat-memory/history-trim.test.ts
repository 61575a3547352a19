import { expect } from 'chai';
import { InvalidArgumentError, type Message, textOf } from '../../../src/index.js';
import { trimToolResults } from '../../../src/stores/chat-memory/index.js';
import { calls, invalidReason, result, user } from '../../support/conversation.js';

const long = (id: string): Message => result(id, id.repeat(300));
const history = [
  user('?'),
  calls('a', 'b', 'c', 'd'),
  long('a'),
  result('b', 'short'),
  long('c'),
  long('d'),
];

describe('trimToolResults', () => {
  it('removes the contents of long results except the last', () => {
    const trimmed = trimToolResults({ keepLast: 1 })(history);

    expect(trimmed.map((message) => textOf(message))).to.deep.equal([
      '?',
      '',
      '[An old result of 300 characters was removed. Call the tool again if it is needed.]',
      'short',
      '[An old result of 300 characters was removed. Call the tool again if it is needed.]',
      'd'.repeat(300),
    ]);
    expect(invalidReason(trimmed)).to.equal(undefined);
    expect(trimToolResults({ keepLast: 1 })(trimmed)).to.equal(trimmed);
  });

  it('returns a history without long results unchanged', () => {
    expect(trimToolResults({ keepLast: 4 })(history)).to.equal(history);
    expect(trimToolResults({ keepLast: 0, minCharacters: 301 })(history)).to.equal(history);
  });

  it('keeps the last results, whatever messages come after them', () => {
    const answered = [...history, user('!'), user('?'), user('?')];

    expect(trimToolResults({ keepLast: 4 })(answered)).to.equal(answered);
  });

  it('removes results of exactly minCharacters', () => {
    const trim = trimToolResults({ keepLast: 0, minCharacters: 5 });

    expect(trim([calls('a'), result('a', '1234')])[1]).to.have.property('content', '1234');
    expect(trim([calls('a'), result('a', '12345')])[1])
      .to.have.property('content')
      .that.contains('old result of 5 characters');
  });

  it('removes media beside a text, and keeps a short text without media', () => {
    const text = { type: 'text', text: 'seen' } as const;
    const image = { type: 'image', url: 'https://example.com/a.png' } as const;
    const withParts = (...content: readonly (typeof text | typeof image)[]): Message => ({
      ...(result('a') as Message & { role: 'tool' }),
      content,
    });
    const trim = trimToolResults({ keepLast: 0 });

    expect(trim([calls('a'), withParts(text, image)])[1])
      .to.have.property('content')
      .that.contains('old result of 4 characters');
    expect(trim([calls('a'), withParts(text)])[1]).to.deep.equal(withParts(text));
  });

  it('removes media', () => {
    const image: Message = {
      ...(result('a') as Message & { role: 'tool' }),
      content: [{ type: 'image', url: 'https://example.com/a.png' }],
    };

    expect(trimToolResults({ keepLast: 0 })([calls('a'), image])[1])
      .to.have.property('content')
      .that.contains('old result of 0 characters');
  });

  for (const options of [{ keepLast: -1 }, { keepLast: 0.5 }, { minCharacters: Number.NaN }])
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => trimToolResults(options)).to.throw(
        InvalidArgumentError,
        'must be an integer >= 0',
      );
    });
});
