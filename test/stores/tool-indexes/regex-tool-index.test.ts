import { expect } from 'chai';
import { InvalidArgumentError, RegexToolIndex } from '../../../src/index.js';
import type { ToolReference } from '../../../advisors/tool-search/index.js';
import { failureOf } from '../../support/modes.js';
import { ATTACK_QUERIES, isAnswered, randomTools } from '../../support/patterns.js';
import {
  itAcceptsLongTexts,
  itKeepsTheLawsOfAToolIndex,
  namesOf,
  tool,
} from '../../support/tool-index-laws.js';

const { raw } = String;

function indexOf(...references: readonly ToolReference[]): RegexToolIndex {
  const index = new RegexToolIndex();
  index.index({ session: 's', references });
  return index;
}

itKeepsTheLawsOfAToolIndex('RegexToolIndex', () => new RegexToolIndex());

itAcceptsLongTexts('RegexToolIndex', () => new RegexToolIndex(), 30_000);

describe('RegexToolIndex', () => {
  it('gives with each tool the words that occur in it, and none of a pattern', async () => {
    const index = new RegexToolIndex();
    index.index({ session: 's', references: [tool('get_weather', 'Forecasts of a town.')] });
    const matchesOf = async (query: string) =>
      (await index.search({ session: 's', query })).references.map(({ matches }) => matches);

    expect(await matchesOf('the weather, sun and Town')).to.deep.equal([['weather', 'town']]);
    expect(await matchesOf('get_*')).to.deep.equal([undefined]);
  });

  const index = indexOf(
    tool('get_user', 'Reads an account.'),
    tool('get_account', 'Reads it.'),
    tool('list_users', 'Lists all.'),
    tool('github.repos/list', 'Lists repositories.'),
    tool('delete_user', 'Removes a user, see get_user.'),
  );

  describe('with a glob', () => {
    for (const [glob, ...names] of [
      ['get_*', 'get_user', 'get_account'],
      ['GET_*', 'get_user', 'get_account'],
      ['*_user', 'get_user', 'delete_user'],
      ['*user*', 'get_user', 'list_users', 'delete_user'],
      ['g?t_us*', 'get_user'],
      ['*', 'get_user', 'get_account', 'list_users', 'github.repos/list', 'delete_user'],
      ['**', 'get_user', 'get_account', 'list_users', 'github.repos/list', 'delete_user'],
      ['github.*', 'github.repos/list'],
      ['github.repos/*', 'github.repos/list'],
      [' get_us* ', 'get_user'],
      ['set_*'],
    ] as const)
      it(`${JSON.stringify(glob)} finds ${names.join(', ') || 'nothing'}`, async () => {
        expect(await namesOf(index, glob)).to.deep.equal(names);
      });
  });

  describe('with a regular expression', () => {
    for (const [pattern, ...names] of [
      ['^get_.*(user|account)', 'get_user', 'get_account'],
      ['(?i)^GET_', 'get_user', 'get_account'],
      ['get_user|list_users', 'get_user', 'delete_user', 'list_users'],
      [raw`\buser\b`, 'delete_user'],
      ['users$', 'list_users'],
      ['[gs]et_user', 'get_user', 'delete_user'],
      ['(get|set)?_u.{3}$', 'get_user', 'delete_user'],
      ['^$'],
    ] as const)
      it(`${pattern} finds ${names.join(', ') || 'nothing'}`, async () => {
        expect(await namesOf(index, pattern)).to.have.members(names);
      });

    it('matches in the first 200 characters of a description', async () => {
      const described = (length: number) => tool('a', `${'x'.repeat(length)}weather`);

      expect(await namesOf(indexOf(described(193)), 'w.*r$')).to.deep.equal(['a']);
      expect(await namesOf(indexOf(described(194)), 'w.*r$')).to.deep.equal([]);
    });

    it('[TST-08] ranks names before descriptions', async () => {
      expect(
        await namesOf(indexOf(tool('a', 'Like get_it.'), tool('get_it', 'A.')), '^.*get_it'),
      ).to.deep.equal(['get_it', 'a']);
    });
  });

  describe('with words', () => {
    it('[TST-02] finds a tool by a word of its name', async () => {
      expect(
        await namesOf(indexOf(tool('read_weather'), tool('send_email')), 'weather'),
      ).to.deep.equal(['read_weather']);
    });

    it('[TST-08] ranks names before descriptions, in the order of the tools', async () => {
      const found = indexOf(
        tool('a', 'About weather.'),
        tool('weather_b'),
        tool('c', 'WEATHER'),
        tool('weather_d'),
      );

      expect(await namesOf(found, 'weather')).to.deep.equal(['weather_b', 'weather_d', 'a', 'c']);
    });

    it('[TST-10] matches any word and ranks tools with more of them first', async () => {
      const found = indexOf(tool('send_mail'), tool('read_mail'), tool('paint'));

      expect(await namesOf(found, 'Could you please READ my mail?')).to.deep.equal([
        'read_mail',
        'send_mail',
      ]);
    });

    it('reads punctuation in a sentence as text', async () => {
      expect(
        await namesOf(
          indexOf(tool('read_weather'), tool('b')),
          'Is (the) weather good? It costs $5 + tax [today].',
        ),
      ).to.deep.equal(['read_weather']);
    });

    for (const query of [
      'get .* weather',
      'The answer:\n\n**The weather.** Is that so?',
      'The text:.** weather **',
    ])
      it(`[F86] reads text with spaces as words: ${JSON.stringify(query)}`, async () => {
        expect(await namesOf(indexOf(tool('read_weather'), tool('b')), query)).to.deep.equal([
          'read_weather',
        ]);
      });

    it('[F86] searches for stop words if there are no others', async () => {
      expect(await namesOf(indexOf(tool('how_is'), tool('b')), 'how is')).to.deep.equal(['how_is']);
      expect(await namesOf(indexOf(tool('xx'), tool('b')), 'what are you')).to.deep.equal([]);
    });

    it('[TST-11] ignores case independently of the locale', async () => {
      expect(await namesOf(indexOf(tool('title_list'), tool('b')), 'TITLE')).to.deep.equal([
        'title_list',
      ]);
      expect(await namesOf(indexOf(tool('天气'), tool('b')), '天气')).to.deep.equal(['天气']);
    });
  });

  it('[TST-04] [TST-06] counts tools by session', () => {
    const counted = indexOf(tool('a'), tool('b'), tool('c'));
    expect([counted.size('s'), counted.size('another')]).to.deep.equal([3, 0]);

    counted.clear('s');
    expect(counted.size('s')).to.equal(0);
  });

  for (const [pattern, ...parts] of [
    ['^get(', 'not closed', 'Add the )'],
    ['get)$', 'not opened', raw`\)`],
    ['^[a-', 'not closed', raw`\[`],
    ['^(?=get)', 'looks ahead', '|'],
    ['(?<!a)b|c', 'looks ahead or behind', '|'],
    [raw`^(a)\1`, 'back reference', 'Write out'],
    ['^a{1000}', 'larger than 500', 'smaller count'],
    ['^a**', 'nothing to repeat', 'Remove it'],
    ['^a++', 'nothing to repeat', 'Remove it'],
    [`^${'a'.repeat(300)}`, '301 characters', 'at most 200'],
    [raw`^\q`, 'means nothing', 'without the backslash'],
  ] as const)
    it(`[TST-12] rejects ${pattern.slice(0, 20)} with advice`, async () => {
      const error = await failureOf(index.search({ session: 's', query: pattern }));

      expect(error).to.be.instanceOf(InvalidArgumentError);
      for (const part of parts) expect(error).to.have.property('message').that.includes(part);
    });

  it('[TST-12] rejects an invalid pattern for a category without tools too', async () => {
    const error = await failureOf(
      index.search({ session: 's', query: '^get(', category: 'unknown' }),
    );

    expect(error)
      .to.be.instanceOf(InvalidArgumentError)
      .and.have.property('message')
      .that.includes('not closed');
  });

  it('[F85] answers or rejects each attack', async () => {
    const attacked = indexOf(...randomTools(50, 200));

    for (const query of ATTACK_QUERIES)
      expect(await isAnswered(attacked, query)).to.be.a('boolean');
  });

  it('[F85] answers or rejects long queries', async () => {
    for (const sign of ['[', '(', '.', '\\', '*', 'a*', '?', '^', '[a', '{', ')*', ' [', '\ud800'])
      expect(await isAnswered(index, sign.repeat(Math.ceil(600_000 / sign.length)))).to.be.a(
        'boolean',
      );
  });

  it('[F85] ends a search in slices when it is cancelled', async () => {
    const attacked = indexOf(...randomTools(5_000, 200));
    const controller = new AbortController();
    const reason = new Error('closed');
    setImmediate(() => controller.abort(reason));

    const search = attacked.search({ session: 's', query: '^(a+)+$', signal: controller.signal });

    expect(await failureOf(search)).to.equal(reason);
  });
});
