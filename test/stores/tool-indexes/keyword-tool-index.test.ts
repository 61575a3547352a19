import { expect } from 'chai';
import fc from 'fast-check';
import {
  InvalidArgumentError,
  KeywordToolIndex,
  type KeywordToolIndexOptions,
} from '../../../src/index.js';
import type { ToolReference } from '../../../advisors/tool-search/index.js';
import {
  itAcceptsLongTexts,
  itKeepsTheLawsOfAToolIndex,
  namesOf,
  tool,
} from '../../support/tool-index-laws.js';
import { sweep } from '../../support/sweep.js';
import { cpuTime } from '../../support/cpu-time.js';

const OTHERS = [
  tool('play_music', 'Plays a song.'),
  tool('paint_wall', 'Paints a wall in some colour.'),
];

function indexOf(
  references: readonly ToolReference[],
  options: KeywordToolIndexOptions = {},
): KeywordToolIndex {
  const index = new KeywordToolIndex(options);
  index.index({ session: 's', references });
  return index;
}

/** Checks that a query finds this tool first, among others. */
async function finds(reference: ToolReference, query: string): Promise<boolean> {
  return (await namesOf(indexOf([...OTHERS, reference]), query))[0] === reference.name;
}

itKeepsTheLawsOfAToolIndex('KeywordToolIndex', () => new KeywordToolIndex());

itAcceptsLongTexts('KeywordToolIndex', () => new KeywordToolIndex(), 30_000);

describe('KeywordToolIndex', () => {
  it('gives with each tool the words of the query that it has, in lower case', () => {
    const tools = [
      tool('get_weather', 'Forecasts of a town.'),
      tool('list_files', 'Lists the files of a repository.'),
      tool('GitHub_issues', 'Lists problems.'),
    ];
    const index = indexOf([...OTHERS, ...tools], { synonyms: [['repo', 'repository']] });
    const matchesOf = (query: string): Readonly<Record<string, readonly string[] | undefined>> => {
      const { references } = index.search({ session: 's', query });
      return Object.fromEntries(references.map(({ name, matches }) => [name, matches]));
    };

    expect(matchesOf('Forecast the weather for Towns')).to.deep.equal({
      get_weather: ['forecast', 'weather', 'towns'],
    });
    expect(matchesOf('repo file, file')['list_files']).to.deep.equal(['repo', 'file']);
    expect(matchesOf('github')).to.deep.equal({ GitHub_issues: ['github'] });
    expect(matchesOf('')['get_weather']).to.equal(undefined);
  });

  describe('names', () => {
    for (const [name, ...queries] of [
      ['sendEmail', 'email', 'send', 'send email', 'SEND_EMAIL', 'sendEmail', 'sendemail'],
      ['send_email', 'email', 'sendEmail', 'send-email'],
      ['send-email', 'email', 'sendEmail'],
      ['mail.send/now', 'send', 'mail'],
      ['HTTPServer', 'http', 'server', 'HTTP', 'httpserver'],
      ['parseXMLDocument', 'xml', 'document', 'parse xml'],
      ['getURLs', 'url', 'urls', 'URL', 'get url'],
      ['search_GitHub', 'github', 'GitHub', 'git hub', 'GITHUB'],
      ['search_github', 'GitHub', 'github'],
      ['oauth2_token', 'oauth', 'oauth2', 'token'],
      ['encodeBase64', 'base64', 'base 64', '64'],
      ['ISO8601_date', 'iso 8601', '8601', 'ISO8601'],
      ['getUserByID', 'user id', 'id'],
    ] as const)
      it(`${name} is found by ${queries.join(', ')}`, async () => {
        for (const query of queries) expect(await finds(tool(name), query), query).to.equal(true);
      });

    it('[TST-15] rank higher than descriptions', async () => {
      const index = indexOf([
        ...OTHERS,
        tool('reporter', 'Reads about the weather of a city.'),
        tool('weather', 'Reads about a city.'),
      ]);

      expect(await namesOf(index, 'weather')).to.deep.equal(['weather', 'reporter']);
    });

    it('rank first with all words of the query', async () => {
      const index = indexOf([
        tool('list_issues'),
        tool('create_issue'),
        tool('create_branch'),
        ...OTHERS,
      ]);

      expect((await namesOf(index, 'create an issue'))[0]).to.equal('create_issue');
    });
  });

  describe('forms of words', () => {
    for (const family of [
      'calculate calculates calculated calculating calculator calculators calculation calculations',
      'translate translator translation translating',
      'delete deletes deleted deleting deletion',
      'search searches searching searched',
      'city cities',
      'verify verifies verified verifying verification',
      'manage manager management managing',
      'organize organization organise organising',
      'book books booking bookings',
      'run running runs',
      'analytic analytics analytical',
      'box boxes',
      'address addresses',
    ])
      it(`share a stem: ${family}`, async () => {
        const words = family.split(' ');

        for (const word of words)
          for (const other of words)
            expect(await finds(tool(`do_${word}`), other), `${word} by ${other}`).to.equal(true);
      });

    for (const [one, other] of [
      'new news',
      'user use',
      'map mapping_',
      'class classic',
      'status stat',
      'bus business',
    ].map((pair) => pair.replace('_', 's').split(' ')) as [string, string][])
      it(`${one} and ${other} are found by themselves`, async () => {
        for (const word of [one, other])
          expect(await finds(tool(`do_${word}`), word), word).to.equal(true);
      });
  });

  describe('stop words', () => {
    const index = indexOf([
      ...OTHERS,
      tool('read_weather', 'The weather.'),
      tool('how_is', 'Looks up a domain.'),
    ]);

    it('do not change the results of a query', () => {
      const answer = index.search({ session: 's', query: 'weather' });

      for (const query of [
        'What is the weather?',
        'please could you let me know what the weather is',
        'THE WEATHER!',
      ])
        expect(index.search({ session: 's', query }), query).to.deep.equal(answer);
    });

    it('[F86] find a tool of that name in a query without other words', async () => {
      expect(await namesOf(index, 'how is')).to.deep.equal(['how_is']);
      expect(await namesOf(index, 'How is it?')).to.deep.equal(['how_is']);
    });

    it('[F86] find nothing without a tool of that name', async () => {
      expect(await namesOf(index, 'what are you')).to.deep.equal([]);
    });

    for (const [name, query] of [
      ['how_is', 'how is'],
      ['howIs', 'howis'],
    ] as const)
      it(`[F86] find ${name} by "${query}" as the only tool`, async () => {
        expect(await namesOf(indexOf([tool(name)]), query)).to.deep.equal([name]);
      });
  });

  describe('queries', () => {
    const references = [
      ...OTHERS,
      tool('weather_map', 'A map.'),
      tool('weather_song', 'A song of rain.'),
      tool('rain', 'It rains.'),
    ];

    it('[TST-13] find tools by words of the description', async () => {
      expect(await namesOf(indexOf(references), 'colour of a wall')).to.deep.equal(['paint_wall']);
    });

    it('count each word once', () => {
      const index = indexOf(references);

      expect(
        index.search({ session: 's', query: 'weather weather map maps Map' }).references,
      ).to.deep.equal(index.search({ session: 's', query: 'weather map' }).references);
    });

    it('[F86] without words return the first tools', async () => {
      for (const query of ['?!', '\u{1F600}', '"', '\u0000', '---'])
        expect(await namesOf(indexOf(references), { query, maxResults: 2 }), query).to.deep.equal([
          'play_music',
          'paint_wall',
        ]);
    });

    it('without matching words find nothing', async () => {
      expect(await namesOf(indexOf(references), 'zebra')).to.deep.equal([]);
    });

    it('with several sentences find a tool for each of them', async () => {
      const index = indexOf([
        tool('archive', 'Keeps an email about a flight, a message, a hotel and a ticket.'),
        tool('send_email', 'Sends an email message.'),
        tool('book_flight', 'Books a flight ticket.'),
        ...OTHERS,
      ]);

      expect(
        (
          await namesOf(index, 'Send an email message to Bob. Then book a flight ticket to Rome!')
        ).slice(0, 2),
      ).to.have.members(['send_email', 'book_flight']);
    });

    it('[F85] take bounded time in a small category and for a text of dots', async () => {
      const words = Array.from(
        { length: 150 },
        (_, at) => `word${String.fromCharCode(97 + (at % 26))}${at}`,
      ).join(' ');
      const common = Array.from({ length: 4_000 }, (_, at) =>
        tool(`tool_${at}`, words, { category: 'web' }),
      );
      const index = indexOf([...common, tool('zebra', 'Has stripes.', { category: 'zoo' })]);
      const spent = cpuTime();
      for (let at = 0; at < 10; at++) await namesOf(index, { query: words, category: 'zoo' });
      for (let at = 0; at < 10; at++) await namesOf(index, '.'.repeat(100_000));

      // unbounded, each search would read 600,000 postings
      expect(spent()).to.be.lessThan(3_000);
      expect(await namesOf(index, { query: `${words} zebra`, category: 'zoo' })).to.deep.equal([
        'zebra',
      ]);
    });

    it('distinguish new and news', async () => {
      const index = indexOf([
        tool('get_weather', 'The weather of a city.'),
        tool('get_company_news', 'The news.'),
        ...OTHERS,
      ]);

      expect((await namesOf(index, 'weather in New York'))[0]).to.equal('get_weather');
      expect(await namesOf(index, 'York is new')).not.to.include('get_company_news');
      expect((await namesOf(index, 'latest news'))[0]).to.equal('get_company_news');
    });

    it('[F86] with a rare and a common word find enough tools of a category', async () => {
      const common = Array.from({ length: 6_000 }, (_, at) =>
        tool(`search_${at}`, 'Searches things.', { category: 'web' }),
      );
      const index = indexOf([...common, tool('zebra', 'Has stripes.', { category: 'zoo' })]);

      expect(
        await namesOf(index, { query: 'search zebra', category: 'web', maxResults: 3 }),
      ).to.have.lengthOf(3);
    });
  });

  describe('parameters', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        passengerCount: { type: 'integer', description: 'How many people travel' },
        cabin: { type: 'string', enum: ['economy', 'business'] },
        stay: { type: 'object', properties: { hotelStars: { type: 'integer' } } },
      },
    } as const;

    for (const query of [
      'passenger',
      'passengerCount',
      'people travelling',
      'economy',
      'hotel stars',
    ])
      it(`are found by ${query}`, async () => {
        expect(await finds(tool('do_it', 'Does it.', { inputSchema }), query)).to.equal(true);
      });

    it('count less than the name', async () => {
      const index = indexOf([
        ...OTHERS,
        tool('do_it', 'Does it.', { inputSchema }),
        tool('passenger', 'Does it.'),
      ]);

      expect((await namesOf(index, 'passenger'))[0]).to.equal('passenger');
    });
  });

  describe('synonyms', () => {
    const references = [
      ...OTHERS,
      tool('open_repository'),
      tool('open_repo'),
      tool('open_project'),
    ];
    const synonyms = [['repo', 'repositories', 'Project']];

    it('rank lower than the word of the query', async () => {
      expect((await namesOf(indexOf(references, { synonyms }), 'repo'))[0]).to.equal('open_repo');
      expect(await namesOf(indexOf(references, { synonyms }), 'repo')).to.have.members([
        'open_repo',
        'open_repository',
        'open_project',
      ]);
      expect((await namesOf(indexOf(references, { synonyms }), 'projects'))[0]).to.equal(
        'open_project',
      );
    });

    it('are empty by default', async () => {
      expect(await namesOf(indexOf(references), 'repo')).to.deep.equal(['open_repo']);
    });

    it('can be in several groups', async () => {
      const index = indexOf(references, {
        synonyms: [
          ['repo', 'repository'],
          ['repo', 'project'],
        ],
      });

      expect(await namesOf(index, 'repo')).to.have.lengthOf(3);
      expect(await namesOf(index, 'project')).to.have.members(['open_project', 'open_repo']);
    });

    for (const synonym of ['two words', '', '?', 5, null])
      it(`must be one word, not ${JSON.stringify(synonym)}`, () => {
        expect(() => new KeywordToolIndex({ synonyms: [['one', synonym as string]] })).to.throw(
          InvalidArgumentError,
          'must be one word',
        );
      });
  });

  describe('minRelativeScore', () => {
    const references = [
      tool('read_weather_report', 'The weather report.'),
      tool('play_music', 'Plays music, such as a report.'),
      tool('read'),
    ];

    it('excludes matches far below the best one', async () => {
      const [best, ...others] = indexOf(references, { minRelativeScore: 0 }).search({
        session: 's',
        query: 'weather report',
      }).references;
      const share = (others[0]?.score ?? 0) / (best?.score ?? 0);

      expect(others).to.have.lengthOf(1);
      expect(
        await namesOf(indexOf(references, { minRelativeScore: share + 0.01 }), 'weather report'),
      ).to.deep.equal(['read_weather_report']);
      expect(
        await namesOf(indexOf(references, { minRelativeScore: share - 0.01 }), 'weather report'),
      ).to.have.lengthOf(2);
    });

    it('[TST-22] excludes nothing if it is 0, in concurrent searches too', async () => {
      const index = indexOf(references, { minRelativeScore: 0 });

      const answers = await Promise.all(
        Array.from({ length: 8 }, () => namesOf(index, 'weather report')),
      );

      for (const answer of answers)
        expect(answer).to.deep.equal(['read_weather_report', 'play_music']);
    });

    for (const value of [-0.1, 1.1, Number.NaN, '0.5a'])
      it(`rejects ${value}`, () => {
        expect(() => new KeywordToolIndex({ minRelativeScore: value as number })).to.throw(
          InvalidArgumentError,
          'minRelativeScore',
        );
      });
  });

  describe('languages', () => {
    for (const [language, text, query] of [
      ['Chinese', '获取天气预报', '天气'],
      ['Chinese in a sentence', '获取天气预报', '北京今天的天气怎么样？'],
      ['Japanese', '天気予報を取得する', '天気'],
      ['Katakana', 'メールを送信する', 'メール'],
      ['Korean', '날씨를 알려줍니다', '날씨'],
      ['Thai', 'พยากรณ์อากาศวันนี้', 'อากาศ'],
      ['German', 'Überweisung ausführen', 'uberweisung'],
      ['German without accents', 'Uberweisung', 'Überweisung'],
      ['accents as marks', 'Überweisung', 'U\u0308berweisung'],
      ['French', 'Envoyer un café', 'CAFE'],
      ['Russian', 'Показать погоду в городе', 'ПОГОДУ'],
      ['Arabic', 'عرض حالة الطقس', 'الطقس'],
      ['Hindi', 'मौसम की जानकारी', 'मौसम'],
      ['Hebrew', 'מזג האוויר', 'האוויר'],
      ['Greek', 'Καιρός στην πόλη', 'καιρος'],
      ['full width', 'ＷＥＡＴＨＥＲ', 'weather'],
      ['English next to Chinese', '使用Slack发送', 'slack'],
      ['a name of two humps next to Chinese', '使用GitHub搜索', 'github'],
    ] as const)
      it(`finds ${language}`, async () => {
        const others = [
          tool('a', '播放音乐'),
          tool('b', '音楽を再生する'),
          tool('c', '음악 재생'),
          tool('d', 'เล่นเพลง'),
          tool('e', 'Играть'),
        ];

        expect((await namesOf(indexOf([...others, tool('target', text)]), query))[0]).to.equal(
          'target',
        );
      });

    it('ranks neighbouring characters first', async () => {
      const index = indexOf([tool('a', '天空的空气'), tool('b', '获取天气预报')]);

      expect((await namesOf(index, '天气'))[0]).to.equal('b');
    });
  });

  describe('sessions', () => {
    it('[TST-16] have a number of tools', () => {
      const index = indexOf([tool('a'), tool('b'), tool('c')]);

      expect(index.size('s')).to.equal(3);
      expect(index.size('another')).to.equal(0);
    });

    it('[TST-18] have no tools after clear', () => {
      const index = indexOf([tool('a')]);
      index.clear('s');

      expect(index.size('s')).to.equal(0);
    });

    it('get and lose tools independently', async () => {
      const index = indexOf([tool('read_weather'), tool('read_mail')]);
      index.index({ session: 't', references: [tool('read_weather'), tool('read_mail')] });
      index.add({ session: 's', references: [tool('read_news')] });
      index.remove({ session: 's', names: ['read_mail', 'unknown'] });

      expect(await namesOf(index, 'read')).to.have.members(['read_weather', 'read_news']);
      expect(await namesOf(index, { session: 't', query: 'read' })).to.have.members([
        'read_weather',
        'read_mail',
      ]);
    });

    it('[D66] have one tool of a name after add', () => {
      const index = indexOf([tool('read_mail'), tool('read_news')]);
      index.add({ session: 's', references: [tool('read_mail', 'Lists the post.')] });

      expect(index.size('s')).to.equal(2);
      expect(index.search({ session: 's', query: 'post' }).references).to.have.length(1);
    });

    it('are created by add', async () => {
      const index = new KeywordToolIndex();
      index.remove({ session: 's', names: ['a'] });
      index.add({ session: 's', references: [tool('read_news')] });

      expect(await namesOf(index, 'news')).to.deep.equal(['read_news']);
    });

    it('reject invalid references', () => {
      const index = indexOf([tool('a')]);

      expect(() => index.add({ session: 's', references: [tool('')] })).to.throw(
        InvalidArgumentError,
        'KeywordToolIndex.add',
      );
      expect(index.size('s')).to.equal(1);
    });

    it('keep tools of the same name, even equal ones', async () => {
      const twins = [
        tool('read', 'Reads mail.'),
        tool('read', 'Reads news.'),
        tool('read', 'Reads news.'),
      ];

      expect(await namesOf(indexOf(twins), 'read')).to.have.lengthOf(3);
      expect(await namesOf(indexOf(twins), 'mail')).to.deep.equal(['read']);
    });

    it('count a reference once that is passed twice', () => {
      const twice = [tool('d'), tool('e')].flatMap((one) => [one, one]);
      const index = indexOf([tool('a'), tool('b'), tool('c')]);
      index.index({ session: 's', references: twice });

      expect(index.size('s')).to.equal(indexOf(twice).size('s'));
    });
  });

  it('finds the same after any changes as a new index', () => {
    fc.assert(
      fc.property(fc.array(CHANGE, { maxLength: 12 }), (changes) => {
        const index = new KeywordToolIndex({ minRelativeScore: 0 });
        let expected: readonly ToolReference[] = [];
        for (const change of changes) {
          expected = change(index, expected);
          const fresh = indexOf(structuredClone(expected), { minRelativeScore: 0 });

          expect(index.size('s')).to.equal(expected.length);
          for (const query of QUERIES)
            expect(answerOf(index, query)).to.deep.equal(answerOf(fresh, query));
        }
      }),
      { numRuns: sweep(1_000) },
    );
  });
});

const WORDS = ['read', 'write', 'weather', 'mail', 'city', 'the', 'map', 'GitHub', '天气', 'über'];
const POOL = Array.from({ length: 14 }, (_, at) => {
  const word = (step: number): string => WORDS[(at * 3 + step * 7) % WORDS.length] as string;
  const properties = {
    [word(3)]: { type: 'string', description: word(4), enum: [word(5)] },
  } as const;
  return tool(
    `${word(0)}_${word(1)}_${at % 12}`,
    `${word(2)} ${word(0)} ${word(4)}`.repeat(1 + (at % 3)),
    {
      inputSchema: { type: 'object', properties },
    },
  );
});
const QUERIES = [
  ...WORDS,
  'read the weather. write a mail',
  'github map city',
  'the',
  'read_weather_0',
  '',
];

type Change = (
  index: KeywordToolIndex,
  before: readonly ToolReference[],
) => readonly ToolReference[];

/** Copies half of the time: an index must not depend on which objects it is given. */
const SOME = fc
  .tuple(fc.subarray(POOL), fc.boolean())
  .map(([some, copied]) => (copied ? structuredClone(some) : some));

const CHANGE: fc.Arbitrary<Change> = fc.oneof(
  SOME.map<Change>((references) => (index) => {
    index.index({ session: 's', references });
    return references;
  }),
  SOME.map<Change>((some) => (index, before) => {
    const references = structuredClone(some.slice(0, 4));
    index.add({ session: 's', references });
    const added = new Map(references.map((reference) => [reference.name, reference]));
    const others = references.filter(({ name }) => before.every((one) => one.name !== name));
    return [...before.map((one) => added.get(one.name) ?? one), ...others];
  }),
  SOME.map<Change>((some) => (index, before) => {
    const names = some.slice(0, 4).map(({ name }) => name);
    index.remove({ session: 's', names });
    return before.filter(({ name }) => !names.includes(name));
  }),
);

/** Scores with names, best first; equal ones by name. */
function answerOf(index: KeywordToolIndex, query: string): readonly string[] {
  const { references } = index.search({ session: 's', query, maxResults: 200 });
  const scores = references.map(({ score = 0 }) => score);
  expect(scores).to.deep.equal([...scores].sort((a, b) => b - a));
  return references
    .map(({ name, description, score = 0 }) => `${score.toFixed(9)} ${name} ${description}`)
    .sort();
}
