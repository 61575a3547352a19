import { expect } from 'chai';
import fc from 'fast-check';
import { KeywordToolIndex } from '../../../src/index.js';
import { readQuery } from '../../../src/stores/tool-indexes/keyword/keyword-query.js';
import { KeywordSearch } from '../../../src/stores/tool-indexes/keyword/keyword-search.js';
import { RANKING } from '../../../src/stores/tool-indexes/keyword/ranking.js';
import { ToolLibrary } from '../../../src/stores/tool-indexes/keyword/tool-library.js';
import type { ToolReference } from '../../../advisors/tool-search/index.js';
import { sweep } from '../../support/sweep.js';
import { namesOf, tool } from '../../support/tool-index-laws.js';

const OTHERS = [
  tool('play_music', 'Plays a song.'),
  tool('paint_wall', 'Paints a wall in some colour.'),
  tool('book_flight', 'Books a seat.'),
];

async function ranked(
  references: readonly ToolReference[],
  query: string,
): Promise<readonly string[]> {
  const index = new KeywordToolIndex({ minRelativeScore: 0 });
  index.index({ session: 's', references: [...OTHERS, ...references] });
  return namesOf(index, { query, maxResults: 50 });
}

describe('the ranking of KeywordToolIndex', () => {
  it('[step 1] counts repetitions less and less: a tool with all words is first', async () => {
    const repeated = tool('one', `${'mail '.repeat(30)}mail`);
    const both = tool('two', 'Counts mail, then makes a report of it for each month of the year');

    expect((await ranked([repeated, both], 'mail report'))[0]).to.equal('two');
  });

  it('[step 1] prefers the shorter of two definitions with the same words', async () => {
    const long = tool(
      'one',
      `Sends mail. ${'It keeps many other things in view as well. '.repeat(9)}`,
    );
    const short = tool('two', 'Sends mail.');

    expect(await ranked([long, short], 'send mail')).to.deep.equal(['two', 'one']);
  });

  it('[step 1] has no maximum for parameters and choices', async () => {
    const [few, many] = [1, 12].map((count) => {
      const properties = Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [
          `p${at}`,
          { type: 'string', description: at < count ? 'Invoice' : 'Receipt' },
        ]),
      );
      return tool(`with_${count}`, 'Does it.', { inputSchema: { type: 'object', properties } });
    }) as [ToolReference, ToolReference];

    expect(await ranked([few, many], 'invoice')).to.deep.equal(['with_12', 'with_1']);
  });

  it('[step 2] finds tools by their category', async () => {
    const star = tool('look_up', 'Does it.', { category: 'Astronomy' });

    expect(await ranked([star], 'astronomy')).to.deep.equal(['look_up']);
  });

  it('[step 2] prefers a name without further words', async () => {
    const further = tool('list_issues_milestone', 'Lists.');
    const exact = tool('list_issues', 'Lists it all.');

    expect((await ranked([further, exact], 'list issues'))[0]).to.equal('list_issues');
  });

  it('[step 2] weighs further words of a name by their rarity in the session', async () => {
    const rare = tool('issues_xylophone', 'Gives.');
    const common = tool('issues_get', 'Gives.');
    const others = Array.from({ length: 8 }, (_, at) => tool(`${'abcdefgh'[at]}_get`, 'Gives.'));

    // without feedback, which prefers rare words
    const library = new ToolLibrary({ ...RANKING, feedback: 0 }, Infinity);
    const selection = library.acquire([rare, common, ...others]);
    const search = new KeywordSearch(library, selection, readQuery('issues'), new Map());

    expect(search.find(2, undefined).map(({ slot }) => slot)).to.deep.equal([1, 0]);
  });

  describe('[step 3] feedback', () => {
    const forecasts = ['hourly', 'daily', 'weekly'].map((span) =>
      tool(`${span}_weather_forecast`, 'Weather forecast of a meteorology station.'),
    );
    const unrelated = tool('report_one', 'Weather paint of a wall colour.');
    const related = tool('report_two', 'Weather data of a meteorology station.');

    it('ranks tools with the words of the best ones before others', async () => {
      const found = await ranked([unrelated, related, ...forecasts], 'weather forecast');

      expect(found.slice(0, 3)).to.have.members(forecasts.map(({ name }) => name));
      expect(found.slice(3)).to.deep.equal(['report_two', 'report_one']);
    });

    it('never displaces the first tool, which the query matches best', () => {
      const WORDS = ['weather', 'city', 'mail', 'map', 'station', 'daily', 'report', 'wind'];
      const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 });
      const queries = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 });
      const references = fc.array(
        words.map((some) => tool(some.slice(0, 2).join('_'), some.slice(2).join(' '))),
        { minLength: 4, maxLength: 12 },
      );
      const rankedWith = (feedback: number, tools: readonly ToolReference[], query: string) => {
        const library = new ToolLibrary({ ...RANKING, feedback }, Infinity);
        const selection = library.acquire(tools);
        const search = new KeywordSearch(library, selection, readQuery(query), new Map());
        return search.find(10, undefined);
      };
      fc.assert(
        fc.property(references, queries, (tools, some) => {
          const found = rankedWith(RANKING.feedback, tools, some.join(' '));
          const scores = found.map(({ score }) => score);

          expect(found[0]?.slot).to.equal(rankedWith(0, tools, some.join(' '))[0]?.slot);
          expect(scores).to.deep.equal(scores.toSorted((a, b) => b - a));
        }),
        { numRuns: sweep(500) },
      );
    });

    it('finds no tool that has nothing of the query', async () => {
      const station = tool('open_station', 'A meteorology station.');

      expect(await ranked([station, ...forecasts], 'weather forecast')).not.to.include(
        'open_station',
      );
    });

    it('never counts as much as what was asked, even if all tools have that', async () => {
      const index = new KeywordToolIndex();
      const references = Array.from({ length: 30 }, (_, at) => tool(`weather_${at}`));
      index.index({ session: 's', references });

      expect(await namesOf(index, { query: 'weather', maxResults: 30 })).to.have.lengthOf(30);
    });
  });
});
