import { expect } from 'chai';
import fc from 'fast-check';
import { AnswerReader } from '../../../src/models/prompted-tools/answer-reader.js';
import { syntaxFor } from '../../../src/models/prompted-tools/plan-syntax.js';
import { FORMATS, planOf, type Format } from '../../support/prompted-tools.js';

const ADD = { a: 1 };

function readerOf(format: Format): AnswerReader {
  return new AnswerReader(syntaxFor(format, []), 10_000);
}

/** The text that is shown after each piece, and at the end. */
function shown(format: Format, ...pieces: readonly string[]): readonly string[] {
  const reader = readerOf(format);
  const texts = pieces.map((piece) => {
    reader.read(piece);
    return reader.text;
  });
  reader.end();
  return [...texts, reader.text];
}

function outcome(format: Format, pieces: readonly string[]) {
  const reader = readerOf(format);
  for (const piece of pieces) reader.read(piece);
  reader.end();
  const { plan, thought } = reader;
  const calls = plan === undefined ? undefined : syntaxFor(format, []).readCalls(plan);
  if (plan !== undefined && calls === undefined) reader.showPlan();
  return { text: reader.text, thought, calls, showsMark: reader.showsMark };
}

describe('AnswerReader', () => {
  for (const format of FORMATS)
    it(`${format}: shows a plain text at once`, () => {
      expect(shown(format, 'It', ' is', ' 5.')).to.deep.equal([
        'It',
        'It is',
        'It is 5.',
        'It is 5.',
      ]);
    });

  it('holds the beginning of a plan until it is certain that it is none', () => {
    expect(shown('json', 'Use {', '"a"', ': 1}')).to.deep.equal([
      'Use',
      'Use {"a"',
      'Use {"a": 1}',
      'Use {"a": 1}',
    ]);
    expect(shown('tagged', 'a <', 'b> <tool_c', 'ar>')).to.deep.equal([
      'a',
      'a <b>',
      'a <b> <tool_car>',
      'a <b> <tool_car>',
    ]);
    expect(shown('react', 'a\nA', 'ct', 'or')).to.deep.equal(['a', 'a', 'a\nActor', 'a\nActor']);
  });

  it('holds a fence, and shows it with the text after it', () => {
    expect(shown('json', 'See:\n```js', '\n', 'x = 1')).to.deep.equal([
      'See:',
      'See:',
      'See:\n```js\nx = 1',
      'See:\n```js\nx = 1',
    ]);
  });

  for (const format of FORMATS)
    it(`${format}: shows nothing of a plan, of its fence and of what follows it`, () => {
      const plan = planOf(format, 'add', ADD);
      const answer = format === 'react' ? `Sure:\n${plan}` : `Sure:\n\`\`\`json\n${plan}\n\`\`\``;

      const texts = shown(format, ...`${answer}\nDone!`);

      expect(new Set(texts)).to.deep.equal(new Set(['S', 'Su', 'Sur', 'Sure', 'Sure:']));
    });

  it('shows a JSON answer from its first key on', () => {
    expect(shown('json', '{"na', 'me":', '"x"}')).to.deep.equal([
      '{"na',
      '{"name":',
      '{"name":"x"}',
      '{"name":"x"}',
    ]);
  });

  it('takes no draft in thinking for a plan', () => {
    const plan = planOf('json', 'add', ADD);
    const thinking = `<think>Maybe ${plan}?</think>`;

    const { text, calls, showsMark } = outcome('json', [`${thinking}\nNo: 5.`]);

    expect(text).to.equal(`${thinking}\nNo: 5.`);
    expect(calls).to.equal(undefined);
    expect(showsMark).to.equal(false);
    expect(outcome('json', [`${thinking}\n${plan}`]).calls).to.deep.equal([
      { name: 'add', arguments: ADD },
    ]);
  });

  it('react: the final answer is shown at once, the thoughts before it are not', () => {
    expect(shown('react', 'Thought: I know.\nFinal', ' Answer: It', ' is')).to.deep.equal([
      '',
      'It',
      'It is',
      'It is',
    ]);
    expect(outcome('react', ['Thought: I know.\nFinal Answer: 5'])).to.deep.include({
      text: '5',
      thought: 'I know.',
    });
    expect(outcome('react', ['Thought: It is 5.'])).to.deep.include({ text: 'It is 5.' });
    expect(outcome('react', ['Hi.\nThought: It is 5.'])).to.deep.include({
      text: 'Hi.\nIt is 5.',
    });
  });

  it('notices a part of a plan in another form', () => {
    expect(outcome('json', ["{'tool_calls': []}"]).showsMark).to.equal(true);
    expect(outcome('json', ['{"a":1,"tool_calls":[]}']).showsMark).to.equal(true);
    expect(outcome('tagged', ['<tool_call name="x">']).showsMark).to.equal(true);
    expect(outcome('react', ['**Action:** add']).showsMark).to.equal(true);
    expect(outcome('react', ['Genre: Action: fast']).showsMark).to.equal(false);
  });

  for (const format of FORMATS)
    it(`${format}: reads the same from any pieces`, () => {
      const plan = planOf(format, 'add', ADD);
      const words = [
        plan,
        'Hi',
        ' ',
        '\n',
        '`',
        '```',
        '```json\n',
        '{',
        '{ "',
        '"tool_',
        '<tool',
        'Thought: ',
        'Final Answer:',
        'Action',
        '<think>',
        '</think>',
        '\t',
      ];
      const text = fc
        .array(fc.constantFrom(...words), { maxLength: 12 })
        .map((all) => all.join(''));

      fc.assert(
        fc.property(text, fc.array(fc.nat(200), { maxLength: 8 }), (whole, cuts) => {
          const ends = [...cuts.filter((cut) => cut < whole.length), whole.length].toSorted(
            (a, b) => a - b,
          );
          const pieces = ends.map((end, at) => whole.slice(ends[at - 1] ?? 0, end));

          const once = outcome(format, [whole]);

          expect(outcome(format, pieces)).to.deep.equal(once);
          if (!whole.includes(plan) && format !== 'react' && once.calls === undefined)
            expect(once.text).to.equal(whole);
        }),
        { numRuns: 300, seed: 1 },
      );
    });
});
