import { expect } from 'chai';
import { ChatResponse, InvalidArgumentError, type Citation } from '../../../src/index.js';
import {
  checkCitations,
  evaluationInput,
  groundednessEvaluator,
  type Document,
} from '../../../src/knowledge/evaluation/index.js';
import { cpuTime } from '../../support/cpu-time.js';

const DOCUMENTS: readonly Document[] = [
  { id: 'a', text: 'Rome was founded\nin 753 BC, by Romulus.', metadata: { url: 'https://a' } },
  { id: 'b', text: 'Rome has seven hills.', metadata: { title: 'Hills' } },
];

/** Citations of the markers of an answer, such as `[a]`, which are ids of documents. */
function citationsIn(answer: string): readonly Citation[] {
  return [...answer.matchAll(/\[(\w+)\]/g)].map(({ 0: marker, 1: id = '', index: start }) => {
    return { document: { key: id, id }, start, end: start + marker.length };
  });
}

const check = (answer: string, citations = citationsIn(answer)) =>
  checkCitations({ answer, documents: DOCUMENTS, citations });
const problemsOf = (answer: string, citations = citationsIn(answer)) =>
  check(answer, citations).sentences.map(({ problem }) => problem);

describe('checkCitations', () => {
  for (const [answer, problems] of [
    ['Rome was founded in 753 BC [a]. It has seven hills [b].', [undefined, undefined]],
    ['Rome was founded in 753 BC. [a] It has seven hills. [b]', [undefined, undefined]],
    ['It was "founded in 753 BC." [a] It has hills [b].', [undefined, undefined]],
    ['Rome is old.\n[a]\nIt has hills.', [undefined, 'no-citation']],
    ['Rome was founded in 753 BC [a][b].', [undefined]],
    ['Rome was founded in 753 BC [a]. It is nice.', [undefined, 'no-citation']],
    ['Rome was founded in 753 BC [c].', ['unknown-document']],
    ['Rome was founded in 753 BC [c] [a].', [undefined]],
    ['1. Rome is old [a].\n2. It has hills [b].\n', [undefined, undefined]],
    ['- Rome is old [a]\n- It has hills\n', [undefined, 'no-citation']],
    ['Dr. Smith met Mr. Jones of St. Peter [a].', [undefined]],
    ['Rome is old [a]. He met Mr.', [undefined, 'no-citation']],
    ['[a] Rome is old.', [undefined]],
    ['ローマは紀元前753年に建設された[a]。丘がある。', [undefined, 'no-citation']],
  ] as const)
    it(`[8.7] finds ${problems.map(String).join(', ')} in ${JSON.stringify(answer)}`, () => {
      expect(problemsOf(answer)).to.deep.equal(problems);
    });

  for (const [quoted, problem] of [
    ['"founded in 753 BC"', undefined],
    ['“Founded in\n753 BC.”', undefined],
    ['"Rome was … by Romulus"', undefined],
    ['"ｆｏｕｎｄｅｄ in 753 BC"', undefined],
    ['"by Romulus ... Rome was"', 'quote-not-found'],
    ['"founded in 754 BC"', 'quote-not-found'],
    ['"Rome has seven hills"', 'quote-not-found'],
    ['"eternal"', undefined],
  ] as const)
    it(`finds ${problem} in a sentence that quotes ${JSON.stringify(quoted)}`, () => {
      expect(problemsOf(`It was ${quoted} [a].`)).to.deep.equal([problem]);
    });

  it('finds the words that a citation quotes in the cited document alone', () => {
    const quote = (text: string): Citation => ({
      document: { key: 'b', id: 'b' },
      text,
      start: 0,
      end: 5,
    });

    expect(problemsOf('Hills.', [quote('has  Seven hills')])).to.deep.equal([undefined]);
    expect(problemsOf('Hills.', [quote('founded in 753 BC')])).to.deep.equal(['quote-not-found']);
  });

  for (const [by, citation, id] of [
    ['address', { url: 'https://a' }, 'a'],
    ['title', { title: 'Hills' }, 'b'],
    ['words', { text: 'seven hills' }, 'b'],
    ['address, not by other fields', { url: 'https://c', title: 'Hills' }, undefined],
    ['id, not by other fields', { document: { key: 'c', id: 'c' }, title: 'Hills' }, undefined],
    ['nothing', {}, undefined],
  ] as const)
    it(`finds the document of a citation by ${by}`, () => {
      const [checked] = check('Rome.', [citation]).citations;

      expect(checked?.document?.id).to.equal(id);
    });

  it('counts the span of a provider for each sentence that it overlaps', () => {
    const answer = 'Rome is old. It has hills. It is nice.';

    expect(problemsOf(answer, [{ url: 'https://a', start: 0, end: 26 }])).to.deep.equal([
      undefined,
      undefined,
      'no-citation',
    ]);
  });

  it('counts a citation without a place for no sentence', () => {
    expect(problemsOf('Rome is old.', [{ url: 'https://a' }])).to.deep.equal(['no-citation']);
  });

  it('[8.7] has the share of the confirmed sentences as score', () => {
    expect(check('Rome is old [a]. It has hills [b]. It is nice. It is big [c].').score).to.equal(
      0.5,
    );
    expect(check('').score).to.equal(0);
    expect(check('42 [a]').score).to.equal(0);
  });

  it('has sentences with their places in the answer', () => {
    const answer = 'Rome is old [a]. It is nice.';

    for (const { text, start, end } of check(answer).sentences)
      expect(answer.slice(start, end)).to.equal(text);
  });

  for (const piece of ['"', '[', '[long]', '\n', ' ', '.', '. ', 'A. ', '1. ', '.)', '"… '])
    it(`takes under 200 ms for 50,000 characters of ${JSON.stringify(piece)}`, () => {
      const answer = piece.repeat(50_000 / piece.length);
      const citations = citationsIn(answer).slice(0, 1_000);
      const time = cpuTime();

      checkCitations({ answer, documents: [{ id: 'long', text: answer }], citations });

      expect(time()).to.be.below(200);
    });

  it('takes under 200 ms for 300 quotations from 32,000 characters', () => {
    const answer = `${'Rome was "founded in 753 BC" [long]. '.repeat(300)}${'"['.repeat(10_000)}`;
    const long: Document = { id: 'long', text: `${'x '.repeat(16_000)}founded in 753 BC` };
    const citations = citationsIn(answer);
    const time = cpuTime();

    const { score } = checkCitations({ answer, documents: [long], citations });

    expect(time()).to.be.below(200);
    expect(score).to.equal(1);
  });
});

describe('groundednessEvaluator', () => {
  const evaluate = (answer: string, minScore?: number) =>
    groundednessEvaluator({ minScore })({
      question: '',
      answer,
      documents: DOCUMENTS,
      citations: citationsIn(answer),
    });

  it('[8.7] passes an answer whose sentences all cite a document', async () => {
    expect(await evaluate('Rome is old [a]. It has hills [b].')).to.include({
      pass: true,
      score: 1,
    });
  });

  it('[8.7] fails with the sentences that cite nothing, or no document of the answer', async () => {
    const { pass, score, feedback } = await evaluate('Rome is old [c]. It is nice.');

    expect([pass, score]).to.deep.equal([false, 0]);
    expect(feedback).to.equal(
      '0 of 2 sentences are confirmed.\nunknown-document: "Rome is old [c]."\nno-citation: "It is nice."',
    );
  });

  it('passes from a minimum score', async () => {
    const answer = 'Rome is old [a]. It is nice.';

    expect(await evaluate(answer, 0.5)).to.include({ pass: true, score: 0.5 });
    expect(await evaluate(answer, 0.6)).to.include({ pass: false, score: 0.5 });
  });

  it('fails an empty answer, whatever the minimum', async () => {
    expect(await evaluate('', 0)).to.include({ pass: false, score: 0 });
  });

  it('refuses a minimum above 1', () => {
    expect(() => groundednessEvaluator({ minScore: 2 })).to.throw(InvalidArgumentError);
  });
});

describe('evaluationInput', () => {
  const citation: Citation = { url: 'https://a', start: 0, end: 4 };
  const response = ChatResponse.ofText('Rome.').with({ metadata: { documents: DOCUMENTS } });

  it('has text, documents and citations of a response', () => {
    expect(evaluationInput('Where?', response.withCitations(citation))).to.deep.equal({
      question: 'Where?',
      answer: 'Rome.',
      documents: DOCUMENTS,
      citations: [citation],
    });
  });

  for (const metadata of [undefined, {}, { documents: 'a' }, { documents: [{ id: 'a' }] }])
    it(`refuses a response with the metadata ${JSON.stringify(metadata)}`, () => {
      expect(() => evaluationInput('Where?', response.with({ metadata }))).to.throw(
        InvalidArgumentError,
        'RetrievalAdvisor',
      );
    });
});
