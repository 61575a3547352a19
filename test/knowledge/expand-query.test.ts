import { expect } from 'chai';
import { CancelledError, InvalidArgumentError } from '../../src/index.js';
import { expandQuery, type Query } from '../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { failureOf } from '../support/modes.js';
import { queryOf } from '../support/queries.js';
import { ledgerOfTurn } from '../support/query-in-turn.js';

const QUERY = queryOf('When was Rome founded?', { filter: { lang: 'en' } });
const textsOf = (queries: readonly Query[]): readonly string[] => queries.map(({ text }) => text);

describe('expandQuery', () => {
  it('[RAG-05] makes three queries beside the original', async () => {
    const model = new ScriptedChatModel('a\nb\nc');

    const queries = await expandQuery({ model })(QUERY);

    expect(queries).to.deep.equal([QUERY.text, 'a', 'b', 'c'].map((text) => ({ ...QUERY, text })));
  });

  it('[RAG-05] leaves the original out', async () => {
    const model = new ScriptedChatModel('a\nb');

    const queries = await expandQuery({ model, count: 2, includeOriginal: false })(QUERY);

    expect(textsOf(queries)).to.deep.equal(['a', 'b']);
  });

  for (const [answer, reason] of [
    ['a\nb', 'too few lines'],
    ['Here they are:\na\nb\nc', 'too many lines'],
    ['', 'no answer'],
  ] as const)
    for (const includeOriginal of [true, false])
      it(`[RAG-05] keeps just the original after ${reason}, includeOriginal: ${includeOriginal}`, async () => {
        const model = new ScriptedChatModel([answer]);

        const queries = await expandQuery({ model, includeOriginal })(QUERY);

        expect(queries).to.deep.equal([QUERY]);
      });

  it('reads lines with numbers, bullets and blank lines between them', async () => {
    const model = new ScriptedChatModel('1. a\r\n\n2) b\n\n- c -d\n');

    const queries = await expandQuery({ model, includeOriginal: false })(QUERY);

    expect(textsOf(queries)).to.deep.equal(['a', 'b', 'c -d']);
  });

  it('searches once by equal queries', async () => {
    const model = new ScriptedChatModel(`a\na\n${QUERY.text}`);

    const queries = await expandQuery({ model })(QUERY);

    expect(textsOf(queries)).to.deep.equal([QUERY.text, 'a']);
  });

  it('is in the ledger of the run of the query', async () => {
    const model = new ScriptedChatModel([{ text: 'a\nb\nc', model: 'small' }]);

    const ledger = await ledgerOfTurn(expandQuery({ model }));

    expect(ledger.map((call) => call.model)).to.deep.equal(['small', 'chat']);
  });

  it('ends with the run of the query', async () => {
    const controller = new AbortController();
    const model = new ScriptedChatModel([{ text: 'a', delay: 60_000 }]);
    const expanded = expandQuery({ model })({ ...QUERY, signal: controller.signal });

    controller.abort();

    expect(await failureOf(Promise.resolve(expanded))).to.be.instanceOf(CancelledError);
  });

  for (const options of [{ count: 0 }, { includeOriginal: 'yes' }, { numberOfQueries: 3 }])
    it(`refuses ${JSON.stringify(options)}`, () => {
      const given = { model: new ScriptedChatModel([]), ...options } as never;

      expect(() => expandQuery(given)).to.throw(InvalidArgumentError, 'expandQuery: ');
    });
});
