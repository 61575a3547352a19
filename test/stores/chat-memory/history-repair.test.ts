import { expect } from 'chai';
import fc from 'fast-check';
import { repairHistory } from '../../../src/stores/chat-memory/index.js';
import type { Message } from '../../../src/index.js';
import {
  assistant,
  calls,
  invalidReason,
  result,
  system,
  user,
  shortTexts,
} from '../../support/conversation.js';
import { sweep } from '../../support/sweep.js';

const REPAIRED = sweep(25_000);

const CORPUS: Readonly<
  Record<string, readonly [before: readonly Message[], after: readonly string[]]>
> = {
  'a call without a result': [
    [user('?'), calls('a'), user('!')],
    ['?', '>a', '<a', '!'],
  ],
  'a call without a result at the end': [
    [user('?'), calls('a')],
    ['?', '>a', '<a'],
  ],
  'one of two results': [
    [calls('a', 'b'), result('b'), assistant('.')],
    ['>a>b', '<a', '<b', '.'],
  ],
  'results in another order': [
    [calls('a', 'b'), result('b'), result('a')],
    ['>a>b', '<a', '<b'],
  ],
  'results behind two messages with calls': [
    [calls('a'), calls('b'), result('a'), result('b')],
    ['>a', '<a', '>b', '<b'],
  ],
  'a result without a call': [
    [user('?'), result('a'), assistant('.')],
    ['?', '.'],
  ],
  'a result before its call': [
    [result('a'), calls('a')],
    ['>a', '<a'],
  ],
  'two results of one call': [
    [calls('a'), result('a', '1'), result('a', '2')],
    ['>a', '<a'],
  ],
  'a result after a user message': [
    [calls('a'), user('?'), result('a'), assistant('.')],
    ['>a', '<a', '?', '.'],
  ],
  'a result behind the next calls': [
    [calls('a'), calls('b'), result('b'), result('a')],
    ['>a', '<a', '>b', '<b'],
  ],
  'one id in two batches': [
    [calls('a'), result('a'), calls('a'), result('a')],
    ['>a', '<a', '>a', '<a'],
  ],
  'an empty answer': [
    [user('?'), assistant(''), user('!'), assistant(' \n')],
    ['?', '!'],
  ],
  'nothing but an empty answer': [[assistant('')], []],
  nothing: [[], []],
};

describe('repairHistory', () => {
  for (const [name, [before, after]] of Object.entries(CORPUS))
    it(`[F67] repairs ${name}`, () => {
      const repaired = repairHistory(before);

      expect(shortTexts(repaired)).to.deep.equal(after);
      expect(invalidReason(repaired)).to.equal(undefined);
      expect(repairHistory(repaired)).to.equal(repaired);
    });

  it('[F67] adds an error result that leaves the outcome of the call open', () => {
    expect(repairHistory([calls('a')])[1]).to.deep.equal({
      role: 'tool',
      toolCallId: 'a',
      toolName: 'look',
      content: 'Interrupted: this call has no result. It may or may not have been carried out.',
      isError: true,
    });
  });

  it('[F58] [F67] keeps the known result of a call behind a result without a call', () => {
    const history = [user('?'), calls('a'), result('x', 'foreign'), result('a', 'known')];

    expect(repairHistory(history)).to.deep.equal([user('?'), calls('a'), result('a', 'known')]);
  });

  it('keeps the first of two results of a call', () => {
    expect(repairHistory([calls('a'), result('a', '1'), result('a', '2')])[1]).to.have.property(
      'content',
      '1',
    );
  });

  it('matches calls without ids in their order', () => {
    const call = { id: undefined as unknown as string, name: 'look', arguments: '{}' };
    const one: Message = { role: 'assistant', content: null, toolCalls: [call, { ...call }] };
    const history = [
      one,
      { ...result('x', '1'), toolCallId: undefined },
      { ...result('x', '2'), toolCallId: undefined },
    ] as Message[];

    expect(repairHistory(history)).to.equal(history);
  });

  it('keeps a refusal and drops an answer of reasoning alone', () => {
    const refused: Message = { role: 'assistant', content: null, refusal: 'No.' };
    const reasoned: Message = { role: 'assistant', content: null, reasoning: 'Hm.' };

    expect(repairHistory([refused, reasoned])).to.deep.equal([refused]);
  });

  it(`[F58] [F67] makes any history valid, is idempotent and returns a valid history unchanged (${REPAIRED} cases)`, () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const message = fc.oneof(
      fc.constantFrom(user('?'), assistant('.'), assistant(''), system('s')),
      fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...ids)),
      id.map((each) => result(each)),
    );
    let sound = 0;
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (history) => {
        const repaired = repairHistory(history);

        expect(invalidReason(repaired)).to.equal(undefined);
        expect(repairHistory(repaired)).to.equal(repaired);
        const others = (messages: readonly Message[]): readonly Message[] =>
          messages.filter(({ role }) => role === 'user' || role === 'system');
        expect(others(repaired)).to.deep.equal(others(history));
        if (repaired === history) sound++;
      }),
      { numRuns: REPAIRED },
    );
    expect(sound).to.be.greaterThan(REPAIRED / 50); // about a seventh
  });
});
