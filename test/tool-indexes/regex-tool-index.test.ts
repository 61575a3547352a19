import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { InvalidArgumentError, RegexToolIndex, type ToolReference } from '../../src/index.js';
import { itKeepsTheLawsOfAToolIndex, namesOf, tool } from './tool-index-laws.js';

const { raw } = String;

function indexOf(...references: readonly ToolReference[]): RegexToolIndex {
  const index = new RegexToolIndex();
  index.index({ session: 's', references });
  return index;
}

itKeepsTheLawsOfAToolIndex('RegexToolIndex', () => new RegexToolIndex());

describe('RegexToolIndex', () => {
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

    it('[TST-08] finds in names before descriptions', async () => {
      expect(await namesOf(indexOf(tool('a', 'Like get_it.'), tool('get_it', 'A.')), '^.*get_it')).to.deep.equal(['get_it', 'a']);
    });
  });

  describe('with words', () => {
    it('[TST-02] finds the one tool whose name has the word', async () => {
      expect(await namesOf(indexOf(tool('read_weather'), tool('send_email')), 'weather')).to.deep.equal(['read_weather']);
    });

    it('[TST-08] finds in names before descriptions, in the order of the tools', async () => {
      const found = indexOf(tool('a', 'About weather.'), tool('weather_b'), tool('c', 'WEATHER'), tool('weather_d'));

      expect(await namesOf(found, 'weather')).to.deep.equal(['weather_b', 'weather_d', 'a', 'c']);
    });

    it('[TST-10] finds any of the words, and first what has more of them', async () => {
      const found = indexOf(tool('send_mail'), tool('read_mail'), tool('paint'));

      expect(await namesOf(found, 'Could you please READ my mail?')).to.deep.equal(['read_mail', 'send_mail']);
    });

    it('takes signs of patterns that people write for what they are', async () => {
      expect(await namesOf(indexOf(tool('read_weather'), tool('b')), 'Is (the) weather good? It costs $5 + tax [today].')).to.deep.equal([
        'read_weather',
      ]);
    });

    for (const query of ['get .* weather', 'The answer:\n\n**The weather.** Is that so?', 'He said:.** weather **'])
      it(`[F86] takes for words what is no pattern: ${JSON.stringify(query)}`, async () => {
        expect(await namesOf(indexOf(tool('read_weather'), tool('b')), query)).to.deep.equal(['read_weather']);
      });

    it('[F86] finds nothing, or what has them, for stop words alone', async () => {
      expect(await namesOf(indexOf(tool('who_is'), tool('b')), 'who is')).to.deep.equal(['who_is']);
      expect(await namesOf(indexOf(tool('xx'), tool('b')), 'what are you')).to.deep.equal([]);
    });

    it('[TST-11] changes capitals in no locale', async () => {
      expect(await namesOf(indexOf(tool('title_list'), tool('b')), 'TITLE')).to.deep.equal(['title_list']);
      expect(await namesOf(indexOf(tool('天气'), tool('b')), '天气')).to.deep.equal(['天气']);
    });
  });

  it('[TST-04] [TST-06] counts tools by session', () => {
    const counted = indexOf(tool('a'), tool('b'), tool('c'));
    expect([counted.size('s'), counted.size('another')]).to.deep.equal([3, 0]);

    counted.clear('s');
    expect(counted.size('s')).to.equal(0);
  });

  for (const [pattern, ...says] of [
    ['^get(', 'not closed', 'Add the )'],
    ['get)$', 'not opened', raw`\)`],
    ['^[a-', 'not closed', raw`\[`],
    ['^(?=get)', 'looks ahead', '|'],
    ['(?<!a)b|c', 'looks ahead or behind', '|'],
    [raw`^(a)\1`, 'back reference', 'Write out'],
    ['^a{1000}', '200 times', 'smaller count'],
    ['^a**', 'quantifier after a quantifier', 'Remove it'],
    ['^a++', 'possessive', 'Leave out'],
    [`^${'a'.repeat(300)}`, '301 characters', 'at most 200'],
    [raw`^\q`, 'means nothing', 'without the backslash'],
  ] as const)
    it(`[TST-12] refuses ${pattern.slice(0, 20)}, and says what to write instead`, () => {
      for (const part of says) expect(() => index.search({ session: 's', query: pattern })).to.throw(InvalidArgumentError, part);
    });

  it('[TST-12] refuses a pattern also if there are no tools of the category', () => {
    expect(() => index.search({ session: 's', query: '^get(', category: 'unknown' })).to.throw(InvalidArgumentError, 'not closed');
  });

  it('[F85] takes no longer for a long query than for a short one', () => {
    for (const sign of ['[', '(', '.', '\\', '*', 'a*', '?', '^', '[a', '{', ')*', ' [', '\ud800']) {
      const query = sign.repeat(Math.ceil(600_000 / sign.length));
      const milliseconds = timeOf(() => answerOrRefusal(index, query));

      expect(milliseconds, JSON.stringify(sign)).to.be.lessThan(2_000);
    }
  });
});

/** What makes other engines slow, and what people use to make them slow. */
const ATTACKS = [
  ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*)*x$', '^(.*a){12}$', '(x+x+)+y', '^([a-z]+)*!$', '(a?){40}a{40}', '(.*.*.*.*)=.*'],
  [raw`^(\w+\s?)*$`, raw`(\d+)*[a-z]+\1?`, raw`^((\w|[a-z])+)+\.$`, raw`(\b\w+\b\s*)+$`, raw`(\s*\S+\s*)*:$`],
  ['.*.*.*.*.*.*.*.*z', '(a|b|ab)*c{100}', '[^x]{200}y', '(.{1,50}){1,9}$', '((a{1,9}){1,9}){1,9}', '(((((((a*)*)*)*)*)*)*)*b'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', '(e|t|a|o|i|n)*.{90}q', '(e.{20}|t.{30}|a.{40})+z', '^.{0,200}z.{0,200}q$', '(?:e?){99}e{99}'],
  ['a*'.repeat(90), 'e.*'.repeat(60), '?'.repeat(150), `${'('.repeat(60)}a${')'.repeat(60)}`, '|'.repeat(190), '*'.repeat(5_000)],
  [
    '[a-z]{'.repeat(30),
    'e{3}'.repeat(45),
    '(e|.)'.repeat(35),
    'word '.repeat(5_000),
    '\u{1F600}'.repeat(2_000),
    '.*\u0000',
    '[\\ud800-\\udfff]',
  ],
  ['*a*e*i*o*u*'.repeat(10), `${'*?'.repeat(95)}z`, '(?i)(?i)', '(?<a>e)*', '$^', '^*', 'e'.repeat(50_000)],
].flat();

function answerOrRefusal(index: RegexToolIndex, query: string): 'answer' | 'refusal' {
  try {
    expect(index.search({ session: 's', query }).references.length).to.be.at.most(10);
    return 'answer';
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidArgumentError);
    return 'refusal';
  }
}

function timeOf(action: () => void): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}

function generated(): readonly ToolReference[] {
  let seed = 1;
  const letter = (): string => 'etaoinshrdlu _.'[(seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % 15] as string;
  const letters = (count: number): string => Array.from({ length: count }, letter).join('');
  return Array.from({ length: 527 }, (_, at) => tool(`${letters(20)}${at}`, letters(1_000)));
}

describe('RegexToolIndex under attack', function () {
  this.timeout(60_000);
  const published = new URL('../../../shared/toolsets/livemcp.tools.jsonl', import.meta.url);
  const catalogues: Readonly<Record<string, () => readonly ToolReference[]>> = {
    '527 published tools': () => {
      const lines = readFileSync(published, 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line) as ToolReference);
    },
    '527 tools of a thousand characters': generated,
    'tools of one letter': () => [1, 10, 100, 10_000, 100_000].map((count) => tool('a'.repeat(count), 'e'.repeat(count))),
  };

  for (const [what, make] of Object.entries(catalogues))
    it(`[F85] answers or refuses at once over ${what}`, function () {
      if (what.includes('published') && !existsSync(published)) {
        const reason = 'no tool sets: ../shared/toolsets is missing';
        if (process.env['CI'] === 'true') throw new Error(reason);
        console.log(`skipped: ${reason}`);
        return this.skip();
      }
      const index = indexOf(...make());
      const counts = { answer: 0, refusal: 0 };

      const times = ATTACKS.map((query) => ({ query, time: timeOf(() => counts[answerOrRefusal(index, query)]++) }));

      const [longest] = times.sort((a, b) => b.time - a.time);
      const total = times.reduce((sum, { time }) => sum + time, 0);
      console.log(
        `      ${what}: ${JSON.stringify(counts)}, ${total.toFixed(0)} ms, longest ${longest?.time.toFixed(1)} ms: ${longest?.query.slice(0, 40)}`,
      );
      expect(total).to.be.lessThan(2_000);
      expect(longest?.time).to.be.lessThan(500);
    });
});
