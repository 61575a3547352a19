import { expect } from 'chai';
import fc from 'fast-check';
import { answerOf, fieldsOf } from '../../../src/bridges/inspector/page/approvals/answer-fields.js';
import { decisionOf, draftOf } from '../../../src/bridges/inspector/page/approvals/draft.js';
import { textPieces } from '../../../src/bridges/inspector/page/parts/hidden-characters.js';
import { changesInWords } from '../../../src/bridges/inspector/page/requests/change-words.js';
import { originsInWords, originsOf } from '../../../src/bridges/inspector/page/requests/origins.js';
import { memoryParts } from '../../../src/bridges/inspector/page/state/conversation.js';
import {
  inOrder,
  NO_CHANGES,
  orderPast,
  partOf,
} from '../../../src/bridges/inspector/page/try/variant.js';
import { CHAIN } from '../../support/inspected-chain.js';
import { inspectedTurn, PENDING } from '../../support/inspector-turns.js';

describe('forms and words of the inspector page', () => {
  const [approval, question] = PENDING as [(typeof PENDING)[0], (typeof PENDING)[0]];
  const schema = question.type === 'question' ? question.schema : {};

  describe('answers by a schema', () => {
    it('have the types of their fields, without those that are left empty', () => {
      const answer = answerOf(fieldsOf(schema), { size: '1', count: '3' });

      expect(answer).to.deep.equal({ value: { size: 'M', count: 3, gift: false } });
    });

    it('name the field that is missing, or out of range', () => {
      const fields = fieldsOf(schema);

      expect(answerOf(fields, {})).to.deep.include({ field: 'size' });
      expect(answerOf(fields, { size: '0', count: '12' })).to.deep.include({
        problem: 'count: the most is 9',
      });
      expect(answerOf(fields, { size: '0', count: '1.5' })).to.deep.include({ field: 'count' });
    });

    it('are one value for a schema of no object, and JSON for any other', () => {
      expect(answerOf(fieldsOf({ type: 'integer' }), { '': '7' })).to.deep.equal({ value: 7 });
      expect(answerOf(fieldsOf({}), { '': '{"a":[1]}' })).to.deep.equal({ value: { a: [1] } });
      expect(answerOf(fieldsOf({}), { '': '{' })).to.have.property('problem');
    });

    it('are made for any schema', () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (properties) => {
          const fields = fieldsOf({ type: 'object', properties });

          answerOf(fields, {});
        }),
      );
    });
  });

  it('decisions have their reason, scope and arguments, and integers that keep their digits', () => {
    const draft = draftOf(approval);

    expect(decisionOf(approval, draft)).to.equal(undefined);
    expect(decisionOf(approval, { ...draft, type: 'deny', reason: 'no' })).to.deep.equal({
      decision: { type: 'deny', reason: 'no' },
    });
    expect(decisionOf(approval, { ...draft, type: 'allow', scope: 'conversation' })).to.deep.equal({
      decision: { type: 'allow', scope: 'conversation' },
    });
    expect(decisionOf(approval, { ...draft, type: 'edit', json: '{"count":2}' })).to.deep.equal({
      decision: { type: 'edit', arguments: { count: 2 } },
    });
    for (const json of ['{', '{"id":12345678901234567890}'])
      expect(decisionOf(approval, { ...draft, type: 'edit', json })).to.have.property('problem');
  });

  it('an advisor moves past its neighbour, and back', () => {
    const moved = orderPast(CHAIN.advisors, NO_CHANGES, 'retry', -1);
    const variant = {
      options: '',
      advisors: { retry: { isPresent: true, order: String(moved), options: '{"attempts":5}' } },
    };

    expect(inOrder(CHAIN.advisors, variant).map(({ name }) => name).slice(6, 8)).to.deep.equal(['retry', 'compaction']); // prettier-ignore
    expect(partOf(variant, CHAIN.advisors)).to.deep.equal({
      part: { advisors: [{ name: 'retry', order: 5_250, options: { attempts: 5 } }] },
    });
    expect(partOf({ options: '[1]', advisors: {} }, CHAIN.advisors)).to.have.nested.property('problems.options'); // prettier-ignore
    expect(orderPast(CHAIN.advisors, NO_CHANGES, 'inspector', -1)).to.equal(undefined);
  });

  it('messages of a request have the advisors that made them, also where places are wrong', () => {
    const [first, second] = inspectedTurn().requests;
    const words = (request: typeof first) =>
      request ? originsOf(request).messages.map(originsInWords) : [];
    const shuffled = second && { ...second, steps: second.steps.toReversed() };

    expect(words(first)).to.deep.equal([
      '',
      'added by chat-memory',
      'added by chat-memory',
      'added by chat-memory, changed by guard',
      'added by chat-memory',
      '',
    ]);
    const expected = ['added by compaction', '', ...Array<string>(4).fill('added by tool-calling'), 'added by steering']; // prettier-ignore
    expect(words(second)).to.deep.equal(expected);
    expect(words(shuffled)).to.deep.equal(expected);
  });

  it('changes are one sentence', () => {
    const [, second] = inspectedTurn().requests;

    expect(second?.steps.map(({ changes }) => changesInWords(changes))).to.include.members([
      'added 4 messages',
      'changed message 4',
      'added the tool search_tools',
      'added a system message, removed 5 messages',
      'changed temperature from 1 to 0.2',
    ]);
  });

  it('a memory has what the model gets, and what it does not', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }));
    const summary = { role: 'system' as const, content: 's' };
    const transcript = [a, b, c].flatMap((message) => message ?? []);

    const parts = memoryParts(transcript, [summary, ...transcript.slice(2)]);

    expect(parts.map(({ type, messages }) => [type, messages.length])).to.deep.equal([
      ['kept-back', 2],
      ['made', 1],
      ['sent', 1],
    ]);
  });

  it('hidden characters are marked, and no other character is lost', () => {
    expect(textPieces('a\u202eb\u200b\u200b')).to.deep.equal([
      { shown: 'a' },
      { code: 'U+202E', name: 'right-to-left override', count: 1 },
      { shown: 'b' },
      { code: 'U+200B', name: 'zero width space', count: 2 },
    ]);
    expect(textPieces('👩‍🚀 é 漢\n\t')).to.deep.equal([{ shown: '👩‍🚀 é 漢\n\t' }]);
  });
});
