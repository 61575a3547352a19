import { expect } from 'chai';
import { ChatClient, ChatResponse, RetrievalAdvisor, type Source } from '../../../src/index.js';
import { citedSources } from '../../../advisors/retrieval/cited-sources.js';
import { toSources } from '../../../advisors/retrieval/source.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { cpuTime } from '../../support/cpu-time.js';
import { MODES, runSpec } from '../../support/modes.js';
import { REFUNDS, SHIPPING, WordRetriever } from '../../support/word-retriever.js';

const [refunds, shipping] = toSources([REFUNDS, SHIPPING]) as [Source, Source];
const [r, s] = [refunds.key, shipping.key];
const cite = (text: string) => citedSources(text, [refunds, shipping]);

describe('citedSources', () => {
  it('finds the document, chunk, page and place of a citation', () => {
    const { citations, problems } = cite(`It takes 14 days [${r}].`);

    expect(citations).to.deep.equal([
      {
        url: 'https://shop.example/refunds',
        title: 'Refunds',
        start: 17,
        end: 27,
        document: {
          key: r,
          id: 'handbook#3',
          chunkOf: 'handbook',
          chunk: 3,
          page: 7,
          start: 100,
          end: 152,
        },
      },
    ]);
    expect(problems).to.deep.equal([]);
  });

  it('finds the place of a quotation in the document of its chunk', () => {
    const { citations, problems } = cite(`“Gift cards are\nnot refunded.” [${r}]`);

    expect(citations[0]).to.include({ text: 'Gift cards are not refunded' });
    expect(citations[0]?.document).to.include({ start: 124, end: 151 });
    expect(problems).to.deep.equal([]);
  });

  for (const [what, quote] of [
    ['in any case', 'a REFUND takes'],
    ['with an ellipsis', 'A refund … not refunded'],
    ['with its signs', 'A refund takes 14 days. Gift cards'],
  ])
    it(`accepts a quotation ${what}`, () => {
      expect(cite(`"${quote}" [${r}]`).problems).to.deep.equal([]);
    });

  it('reports a quotation that no cited document has, and keeps its words out of the citation', () => {
    const { citations, problems } = cite(`"A refund takes 30 days" [${r}][${s}], or so.`);

    expect(problems).to.deep.equal([
      { reason: 'quote-not-found', key: r, quote: 'A refund takes 30 days', start: 25 },
    ]);
    expect(citations.map(({ text }) => text)).to.deep.equal([undefined, undefined]);
  });

  it('accepts a quotation that one of the cited documents has', () => {
    const { citations, problems } = cite(`"Shipping is free" [${r}, ${s}]`);

    expect(problems).to.deep.equal([]);
    expect(citations.map(({ text }) => text)).to.deep.equal([undefined, 'Shipping is free']);
  });

  it('reports a key that no document has, and cites nothing for it', () => {
    const { citations, problems } = cite('Returns are free [s1234567].');

    expect(citations).to.deep.equal([]);
    expect(problems).to.deep.equal([{ reason: 'unknown-source', key: 's1234567', start: 17 }]);
  });

  it('takes other brackets for text', () => {
    const { citations, problems } = cite('As in [1] and [the handbook], a[s] = [0, 1, 2, 3].');

    expect([citations, problems]).to.deep.equal([[], []]);
  });

  it('cites neither of two documents with one key', () => {
    const twin: Source = { ...shipping, key: r };

    const { citations, problems } = citedSources(`So [${r}].`, [refunds, twin]);

    expect(citations).to.deep.equal([]);
    expect(problems).to.deep.equal([{ reason: 'ambiguous-source', key: r, start: 3 }]);
  });

  it('takes no time for an answer of quotation marks, brackets and spaces', () => {
    const hostile = ['"'.repeat(20_000), '['.repeat(20_000), `"a ${' '.repeat(20_000)}`, `"${'a '.repeat(900)}" [${r}] `.repeat(5)]; // prettier-ignore
    const text = `${'a '.repeat(15_000)}b`;
    const used = cpuTime();

    for (const answer of hostile) citedSources(answer, [{ ...refunds, text }]);

    expect(used()).to.be.below(1_000);
  });
});

describe('toSources', () => {
  it('gives a document the same key in each turn, and another one when its text changes', () => {
    const [again] = toSources([REFUNDS]);
    const [changed] = toSources([{ ...REFUNDS, text: 'A refund takes 15 days.' }]);

    expect(again?.key).to.equal(r);
    expect(changed?.key).to.not.equal(r);
  });

  it('keeps the first of equal documents', () => {
    expect(toSources([REFUNDS, SHIPPING, REFUNDS]).map(({ key }) => key)).to.deep.equal([r, s]);
  });
});

describe('RetrievalAdvisor, citations', () => {
  for (const mode of MODES) {
    it(`${mode}: are in the response, and the text is unchanged`, async () => {
      const text = `"Gift cards are not refunded" [${r}]. Returns are free [s1234567].`;
      const retriever = new WordRetriever({ shop: [REFUNDS] });
      const advisor = new RetrievalAdvisor({ retriever, scope: () => 'shop' });
      const spec = ChatClient.create(new ScriptedChatModel([text]))
        .prompt('refund of gift cards?')
        .advisors(advisor);

      const response = await runSpec(mode, spec);

      expect(response.text).to.equal(text);
      expect(response.citations.map(({ document }) => document?.id)).to.deep.equal(['handbook#3']);
      expect(response.metadata?.['citationProblems']).to.deep.equal([
        { reason: 'unknown-source', key: 's1234567', start: 59 },
      ]);
      expect(JSON.parse(JSON.stringify(response))).to.have.nested.property('metadata.documents');
    });

    it(`${mode}: stand behind the citations of the provider`, async () => {
      const answer = ChatResponse.ofText(`14 days [${r}].`).withCitations({
        url: 'https://x.example',
      });
      const retriever = new WordRetriever({ shop: [REFUNDS] });
      const advisors = ['first', 'second'].map(
        (name) => new RetrievalAdvisor({ name, retriever, scope: () => 'shop' }),
      );
      const spec = ChatClient.create(new ScriptedChatModel([answer]))
        .prompt('refund?')
        .advisors(...advisors);

      const { citations } = await runSpec(mode, spec);

      expect(citations.map(({ url }) => url)).to.deep.equal([
        'https://x.example',
        'https://shop.example/refunds',
      ]);
    });
  }
});
