import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Document, DocumentMetadata } from '../../../src/core/chat/document.js';
import { CancelledError, InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { KeywordIndex, type TextQuery } from '../../../src/stores/texts/keyword-index.js';
import { failureOf } from '../../support/modes.js';

function doc(id: string, text: string, metadata?: DocumentMetadata): Document {
  return { id, text, ...(metadata && { metadata }) };
}

describe('KeywordIndex', () => {
  let index: KeywordIndex;

  beforeEach(() => {
    index = new KeywordIndex();
  });

  async function idsOf(
    text: string,
    query: Partial<TextQuery> = {},
    namespace = 'n',
  ): Promise<readonly string[]> {
    const found = await index.search(namespace, { text, topK: 10, ...query });
    return found.map(({ id }) => id);
  }

  describe('search', () => {
    it('finds documents by the words of a question, the best first', async () => {
      await index.upsert('n', [
        doc('refund', 'A refund is paid within 14 days after the return of the goods.'),
        doc('delivery', 'Goods are delivered within 3 days.'),
        doc('contact', 'Write to our support.'),
      ]);

      expect(await idsOf('When are refunds of returned goods paid?')).to.deep.equal([
        'refund',
        'delivery',
      ]);
    });

    it('returns documents as they were stored, with scores from 0 to 1', async () => {
      const metadata = { title: 'Tides', page: 3, tags: ['sea'] };
      await index.upsert('n', [doc('a', 'The moon causes tides.', metadata), doc('b', 'The moon')]);

      const [first, second] = await index.search('n', { text: 'tides of the moon', topK: 2 });

      expect(first).to.deep.equal({
        ...doc('a', 'The moon causes tides.', metadata),
        score: first?.score,
      });
      expect(first?.score).to.be.within(0.1, 1);
      expect(second?.score).to.be.within(0, first?.score ?? 0);
    });

    it('returns at most topK documents, and only those with the minimum score', async () => {
      await index.upsert('n', [
        doc('both', 'red apples'),
        doc('one', 'red'),
        doc('other', 'a long text that mentions among other things something red in it'),
      ]);

      expect(await idsOf('red apples', { topK: 2 })).to.deep.equal(['both', 'one']);
      expect(await idsOf('red apples', { minScore: 0.3 })).to.deep.equal(['both']);
    });

    it('finds nothing for a question without words, or without words of a document', async () => {
      await index.upsert('n', [doc('a', 'some text')]);

      expect(await idsOf('')).to.deep.equal([]);
      expect(await idsOf('what is this?')).to.deep.equal([]);
      expect(await idsOf('unknown')).to.deep.equal([]);
      expect(await idsOf('text', {}, 'missing')).to.deep.equal([]);
    });

    it('reads title and headings of the metadata, which count more than the text', async () => {
      await index.upsert('n', [
        doc('a-text', 'alpha installation'),
        doc('b-heading', 'alpha beta', { headings: ['Guide', 'Installation'] }),
        doc('c-title', 'alpha', { title: 'Installation', author: 'Installation' }),
        doc('d-author', 'alpha delta', { author: 'Installation' }),
      ]);

      const found = await idsOf('installation');

      expect(found).to.have.members(['a-text', 'b-heading', 'c-title']);
      expect(found[0]).to.equal('c-title');
    });

    it('finds words in other forms, parts of identifiers, and other scripts', async () => {
      await index.upsert('n', [
        doc('forms', 'oscillators'),
        doc('code', 'call getUserProfile()'),
        doc('german', 'Die Straße nach Zürich'),
        doc('russian', 'Отчёт о продажах'),
        doc('chinese', '数据库迁移指南'),
        doc('chinese-other', '据说数字图书馆库存'),
        doc('thai', 'การคืนเงิน'),
        doc('emoji', 'no words: 🙂'),
      ]);

      expect(await idsOf('oscillation')).to.deep.equal(['forms']);
      expect(await idsOf('user profile')).to.deep.equal(['code']);
      expect(await idsOf('STRASSE ZURICH')).to.deep.equal(['german']);
      expect(await idsOf('отчет')).to.deep.equal(['russian']);
      expect((await idsOf('数据库'))[0]).to.equal('chinese');
      expect(await idsOf('คืนเงิน')).to.deep.equal(['thai']);
    });

    it('ranks others by the words of the best documents, and keeps the best match first', async () => {
      await index.upsert('n', [
        doc('best', 'heart attack: infarction of the myocardium'),
        doc('same-subject', 'the heart and its myocardium; infarction, treated early'),
        doc('other-subject', 'the heart of the city, its squares and its long avenues'),
        ...Array.from({ length: 20 }, (_, at) => doc(`x${at}`, `unrelated text number ${at}`)),
      ]);

      expect(await idsOf('heart attack')).to.deep.equal(['best', 'same-subject', 'other-subject']);
    });

    it('orders equal scores by id, whenever they were added', async () => {
      await index.upsert(
        'n',
        ['c', 'a', 'b'].map((id) => doc(id, 'same text')),
      );
      await index.upsert('n', [doc('a', 'same text')]);

      expect(await idsOf('text')).to.deep.equal(['a', 'b', 'c']);
      expect(await idsOf('text', { topK: 1 })).to.deep.equal(['a']);
    });

    it('applies a filter before topK', async () => {
      await index.upsert('n', [
        doc('a', 'report report', { year: 2019 }),
        doc('b', 'report of a year', { year: 2021 }),
        doc('c', 'report without metadata'),
      ]);

      expect(await idsOf('report', { topK: 1, filter: { year: { gte: 2020 } } })).to.deep.equal([
        'b',
      ]);
      expect(await idsOf('report', { filter: { year: 1 } })).to.deep.equal([]);
    });

    it('refuses invalid queries', async () => {
      const queries: readonly Partial<TextQuery>[] = [
        { topK: 0 },
        { minScore: 2 },
        { text: 1 as unknown as string },
        { filter: { year: undefined } },
      ];

      for (const query of queries) {
        const error = await failureOf(index.search('n', { text: 'a', topK: 1, ...query }));
        expect(error, JSON.stringify(query)).to.be.instanceOf(InvalidArgumentError);
      }
      expect(await failureOf(index.search(' ', { text: 'a', topK: 1 }))).to.be.instanceOf(
        InvalidArgumentError,
      );
    });

    it('is cancelled with its run', async () => {
      const signal = AbortSignal.abort();

      const error = await failureOf(index.search('n', { text: 'a', topK: 1 }, { signal }));

      expect(error).to.be.instanceOf(CancelledError);
    });
  });

  describe('namespaces', () => {
    it('are walls: documents of others are not found, listed or deleted', async () => {
      await index.upsert('anna', [doc('1', 'secret of anna')]);
      await index.upsert('ben', [doc('1', 'secret of ben'), doc('2', 'secret')]);

      await index.delete('anna', ['2']);
      await index.delete('anna', {});

      expect(await idsOf('secret', {}, 'anna')).to.deep.equal([]);
      expect(await index.list('anna')).to.deep.equal([]);
      expect(await idsOf('secret', {}, 'ben')).to.deep.equal(['2', '1']);
    });

    it('do not change the scores of one another', async () => {
      const own = [doc('1', 'secret of anna'), doc('2', 'letter of anna')];
      await index.upsert('anna', own);
      const before = await index.search('anna', { text: 'secret', topK: 5 });

      await index.upsert(
        'ben',
        Array.from({ length: 50 }, (_, at) => doc(`${at}`, 'secret secret')),
      );

      expect(await index.search('anna', { text: 'secret', topK: 5 })).to.deep.equal(before);
    });
  });

  describe('documents', () => {
    it('are replaced by id, and by the option replaces in the same step', async () => {
      await index.upsert('n', [
        doc('f#0', 'old beginning', { document: 'f' }),
        doc('f#1', 'old end', { document: 'f' }),
        doc('g#0', 'old other', { document: 'g' }),
      ]);

      await index.upsert('n', [doc('f#0', 'new beginning', { document: 'f' })], {
        replaces: { document: 'f' },
      });

      expect(await idsOf('old new')).to.have.members(['f#0', 'g#0']);
      expect(await idsOf('end')).to.deep.equal([]);
    });

    it('are listed in pages by id, with a filter', async () => {
      await index.upsert(
        'n',
        ['d', 'b', 'a', 'c'].map((id) => doc(id, id, { odd: 'ac'.includes(id) })),
      );

      const page = await index.list('n', { after: 'a', limit: 2 });
      const odd = await index.list('n', { filter: { odd: true } });

      expect(page.map(({ id }) => id)).to.deep.equal(['b', 'c']);
      expect(odd.map(({ id }) => id)).to.deep.equal(['a', 'c']);
    });

    it('are deleted by ids, by filter, or with their namespace', async () => {
      await index.upsert(
        'n',
        ['a', 'b', 'c'].map((id) => doc(id, 'text', { id })),
      );

      await index.delete('n', ['a', 'missing']);
      expect(await idsOf('text')).to.deep.equal(['b', 'c']);
      await index.delete('n', { id: 'b' });
      expect(await idsOf('text')).to.deep.equal(['c']);
      await index.clear('n');
      expect(await idsOf('text')).to.deep.equal([]);
    });

    it('are written in the order of the calls, all of a call or none', async () => {
      const long = doc('a', 'first '.repeat(200_000));
      const aborted = AbortSignal.abort();

      const writes = await Promise.allSettled([
        index.upsert('n', [long, doc('b', 'first')]),
        index.upsert('n', [doc('x', 'never')], { signal: aborted }),
        index.upsert('n', [doc('a', 'second')]),
        index.delete('n', ['b']),
      ]);

      expect(writes.map(({ status }) => status)).to.deep.equal([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ]);
      expect(await index.list('n')).to.deep.equal([doc('a', 'second')]);
      expect(await idsOf('first never')).to.deep.equal([]);
    });

    it('do not change with the objects that were passed', async () => {
      const metadata = { year: 2020, tags: ['a'] };
      await index.upsert('n', [{ id: 'a', text: 'text', metadata }]);

      metadata.year = 1;
      metadata.tags.push('b');

      expect(await index.list('n')).to.deep.equal([doc('a', 'text', { year: 2020, tags: ['a'] })]);
    });

    it('refuses what no store could keep, and keeps what it had', async () => {
      await index.upsert('n', [doc('a', 'text')]);

      const error = await failureOf(index.upsert('n', [doc('b', 'text'), doc('', 'text')]));

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(await idsOf('text')).to.deep.equal(['a']);
    });
  });

  it('answers after random changes like an index that is built from its documents', async () => {
    const word = fc.constantFrom(
      'red',
      'blue',
      'apples',
      'pears',
      'tree',
      'the',
      'getApples',
      '树木',
    );
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
    const id = fc.nat(30).map(String);
    const documents = fc.array(
      fc.record({ id, text, metadata: fc.record({ group: fc.nat(3), title: text }) }),
      { maxLength: 12 },
    );
    const change = fc.oneof(
      fc.record({ upsert: documents, replaces: fc.option(fc.nat(3), { nil: undefined }) }),
      fc.record({ ids: fc.array(id, { maxLength: 12 }) }),
      fc.record({ group: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 25 }), text, async (changes, question) => {
        const changed = new KeywordIndex();
        for (const one of changes)
          if ('upsert' in one)
            await changed.upsert('n', one.upsert, {
              ...(one.replaces !== undefined && { replaces: { group: one.replaces } }),
            });
          else await changed.delete('n', 'ids' in one ? one.ids : { group: one.group });
        const fresh = new KeywordIndex();
        await fresh.upsert('n', await changed.list('n'));

        for (const filter of [{}, { group: { lt: 2 } }]) {
          const query = { text: question, topK: 5, filter };
          expect(await changed.search('n', query)).to.deep.equal(await fresh.search('n', query));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('answers like a new index after many documents were replaced and deleted', async () => {
    const documents = Array.from({ length: 300 }, (_, at) =>
      doc(`${at}`, `number ${at % 7} of ${at % 11} red apples`, { group: at % 3 }),
    );
    await index.upsert('n', documents);
    await index.upsert(
      'n',
      documents.slice(0, 100).map(({ id }) => doc(id, `new ${id} apples`)),
    );
    await index.delete('n', { group: 1 });
    const fresh = new KeywordIndex();
    await fresh.upsert('n', await index.list('n'));

    for (const text of ['red apples', 'number 3', 'new 42', 'apples of number 5']) {
      const query = { text, topK: 20 };
      expect(await index.search('n', query), text).to.deep.equal(await fresh.search('n', query));
    }
  });

  it('takes hostile texts: long words, no spaces, many scripts', async () => {
    const texts = ['a', 'aB', 'Z', '漢', '漢字ก', 'e\u0301', '1', ' ', 'eed', '\ud800', 'a1Ж'].map(
      (part) => part.repeat(20_000),
    );

    await index.upsert(
      'n',
      texts.map((text, at) => doc(String(at), text)),
    );
    for (const text of texts) await index.search('n', { text, topK: 3 });

    expect((await index.list('n')).length).to.equal(texts.length);
  });
});
