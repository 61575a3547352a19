import { expect } from 'chai';
import { InvalidArgumentError, type ToolIndex } from '../../src/index.js';
import type { ToolReference, ToolSearchRequest } from '../../advisors/tool-search/index.js';

/** Creates a reference with defaults. */
export function tool(
  name: string,
  description = '',
  more: Partial<ToolReference> = {},
): ToolReference {
  return { name, description, inputSchema: { type: 'object' }, ...more };
}

/** Returns the names that a search finds, best first. */
export async function namesOf(
  index: ToolIndex,
  request: string | (Partial<ToolSearchRequest> & { query: string }),
): Promise<string[]> {
  const { references } = await index.search({
    session: 's',
    ...(typeof request === 'string' ? { query: request } : request),
  });
  return references.map(({ name }) => name);
}

const numbered = (word: string, count: number): readonly ToolReference[] =>
  Array.from({ length: count }, (_, at) => tool(`${word}_${at}`, `Reads the ${word} report.`));

const TOWN = [
  tool('read_weather', 'Reads the weather of a city.', { category: 'Climate' }),
  tool('send_email', 'Sends an email to a person.', { category: 'office' }),
  tool('list_weather_stations', 'Lists stations of the weather service.', { category: 'office' }),
];

const HOSTILE = [
  [
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    `it's "quoted" \\ \``,
    'a\u0000b',
    '\u0000',
    ' \n\t',
  ],
  [
    '\ud800',
    'x\udfff',
    '\u{1F600}',
    '\u202e',
    '-- DROP TABLE',
    '${x}',
    '%s%n',
    '../..',
    '<b>',
    'x'.repeat(10_000),
  ],
].flat();

const BAD_SESSIONS = ['', undefined, null, 5, {}] as readonly unknown[] as readonly string[];
const BAD_REFERENCES: Readonly<Record<string, unknown>> = {
  'a missing list': undefined,
  'an object as list': {},
  'undefined as a reference': [undefined],
  'null as a reference': [null],
  'no name': [{ description: '', inputSchema: {} }],
  'an empty name': [tool('')],
  'no description': [{ name: 'a', inputSchema: {} }],
  'no schema': [{ name: 'a', description: '' }],
  'a list as schema': [{ name: 'a', description: '', inputSchema: [] }],
  'a number as category': [tool('a', '', { category: 5 as never })],
  'an invalid reference after a valid one': [tool('a'), tool('')],
};
const BAD_SEARCHES: readonly Readonly<Record<string, unknown>>[] = [
  ...[undefined, null, 5, ['a']].map((query) => ({ query })),
  ...[0, -1, 1.5, Number.NaN, Infinity, '3', null].map((maxResults) => ({ maxResults })),
  { category: 5 },
];

async function expectRejection(attempt: () => unknown): Promise<void> {
  const error: unknown = await (async () => attempt())().then(
    () => 'no error',
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(InvalidArgumentError);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** Tests that every index passes. */
export function itKeepsTheLawsOfAToolIndex(name: string, create: () => ToolIndex): void {
  describe(`${name} as a tool index`, function () {
    this.timeout(60_000);
    let index: ToolIndex;

    beforeEach(() => {
      index = create();
    });

    it('[TST-05] [TST-17] finds nothing for an unknown session', async () => {
      await index.index({ session: 'another', references: TOWN });

      expect(await namesOf(index, 'weather')).to.deep.equal([]);
      expect(await namesOf(index, '')).to.deep.equal([]);
    });

    it('[TST-21] finds a tool right after index', async () => {
      await index.index({ session: 's', references: TOWN });

      expect((await namesOf(index, 'email'))[0]).to.equal('send_email');
    });

    it('replaces the tools of a session', async () => {
      await index.index({ session: 's', references: TOWN });
      await index.index({ session: 's', references: [tool('play_music', 'Plays music.')] });

      expect(await namesOf(index, 'music')).to.deep.equal(['play_music']);
      expect(await namesOf(index, '')).to.deep.equal(['play_music']);
      expect(await namesOf(index, 'weather')).to.not.include('read_weather');
    });

    it('accepts an empty list of tools', async () => {
      await index.index({ session: 's', references: TOWN });
      await index.index({ session: 's', references: [] });

      expect(await namesOf(index, 'weather')).to.deep.equal([]);
      expect(await namesOf(index, '')).to.deep.equal([]);
    });

    it('[TST-06] [TST-18] clears a session and ignores an unknown one', async () => {
      await index.index({ session: 's', references: TOWN });
      await index.clear('s');
      await index.clear('s');
      await index.clear('unknown');

      expect(await namesOf(index, 'weather')).to.deep.equal([]);
      expect(await namesOf(index, '')).to.deep.equal([]);
    });

    it('keeps a session when another with the same tools is cleared', async () => {
      for (const session of ['s', 't']) await index.index({ session, references: TOWN });
      await index.clear('t');

      expect(await namesOf(index, 'email')).to.include('send_email');
      expect(await namesOf(index, { session: 't', query: 'email' })).to.deep.equal([]);
    });

    it('[F84] [TST-19] never finds the tools of another session', async () => {
      const tenants = { ours: numbered('ours', 20), theirs: numbered('theirs', 20) };
      for (let round = 0; round < 10; round++)
        for (const [session, references] of Object.entries(tenants)) {
          if (round % 4 === 3) await index.clear(session);
          await index.index({ session, references: references.slice(round) });

          for (const query of ['ours', 'theirs', 'report', '', 'ours_12 theirs_12'])
            for (const found of await namesOf(index, { session, query, maxResults: 50 }))
              expect(found).to.match(new RegExp(`^${session}_`));
        }

      for (const session of Object.keys(tenants))
        expect(await namesOf(index, { session, query: 'report', maxResults: 50 })).to.have.lengthOf(
          11,
        );
    });

    it('[F84] isolates sessions that start with the same tools', async () => {
      for (const session of ['s', 't']) await index.index({ session, references: TOWN });
      await index.index({
        session: 't',
        references: [...TOWN, tool('secret_weather', 'The weather of tomorrow.')],
      });

      expect(await namesOf(index, 'weather')).to.not.include('secret_weather');
      expect(await namesOf(index, { session: 't', query: 'weather' })).to.include('secret_weather');
    });

    it('[F86] [TST-09] [TST-32] finds at most maxResults tools, 10 by default', async () => {
      await index.index({ session: 's', references: numbered('weather', 30) });

      for (const query of ['weather', '']) {
        expect(await namesOf(index, query)).to.have.lengthOf(10);
        for (const maxResults of [1, 3, 25])
          expect(await namesOf(index, { query, maxResults })).to.have.lengthOf(maxResults);
        expect(await namesOf(index, { query, maxResults: 1_000_000 })).to.have.lengthOf(30);
      }
    });

    it('[F86] returns the first tools for a blank query', async () => {
      const references = numbered('weather', 30);
      await index.index({ session: 's', references });

      for (const query of ['', ' ', '\n\t '])
        expect(await namesOf(index, { query, maxResults: 4 })).to.deep.equal(
          references.slice(0, 4).map((one) => one.name),
        );
    });

    it('filters by category, ignoring case', async () => {
      await index.index({
        session: 's',
        references: [...TOWN, tool('weather_of_no_category', 'The weather.')],
      });

      for (const category of ['office', 'OFFICE']) {
        expect(await namesOf(index, { query: 'weather', category }))
          .to.include('list_weather_stations')
          .and.not.include('read_weather');
        expect(await namesOf(index, { query: '', category })).to.deep.equal([
          'send_email',
          'list_weather_stations',
        ]);
      }
      expect(await namesOf(index, { query: 'weather', category: 'climate' })).to.deep.equal([
        'read_weather',
      ]);
      expect(await namesOf(index, { query: 'weather', category: 'unknown' })).to.deep.equal([]);
    });

    it('returns complete references with a score', async () => {
      const references = [
        tool('a_weather', 'The weather.', {
          category: 'x',
          inputSchema: { type: 'object', title: 'T' },
        }),
      ];
      await index.index({ session: 's', references });

      const found = await index.search({ session: 's', query: 'weather' });

      const [{ score, matches: _matches, ...rest }] = found.references as [ToolReference];
      expect([found.references.length, typeof score, rest]).to.deep.equal([1, 'number', references[0]]); // prettier-ignore
    });

    it('returns the best match first', async () => {
      await index.index({ session: 's', references: [...numbered('report', 5), ...TOWN] });

      const { references } = await index.search({ session: 's', query: 'report of the weather' });

      const scores = references.map(({ score }) => score ?? Number.NaN);
      expect(scores).to.have.lengthOf.at.least(3);
      expect(scores).to.deep.equal([...scores].sort((a, b) => b - a));
    });

    it('does nothing for equal tools', async () => {
      await index.index({ session: 's', references: TOWN });
      const before = await index.search({ session: 's', query: 'weather' });
      await index.index({ session: 's', references: TOWN });
      await index.index({ session: 's', references: structuredClone(TOWN) });

      expect(await index.search({ session: 's', query: 'weather' })).to.deep.equal(before);
    });

    it('serves many sessions with the same tools', async () => {
      const sessions = Array.from({ length: 100 }, (_, at) => `session ${at}`);
      for (const session of sessions)
        await index.index({ session, references: structuredClone(TOWN) });

      for (const session of sessions)
        expect((await namesOf(index, { session, query: 'email' }))[0]).to.equal('send_email');
    });

    for (const session of BAD_SESSIONS)
      it(`rejects ${JSON.stringify(session) ?? 'undefined'} as session`, async () => {
        await expectRejection(() => index.index({ session, references: TOWN }));
        await expectRejection(() => index.search({ session, query: 'weather' }));
      });

    for (const [what, references] of Object.entries(BAD_REFERENCES))
      it(`rejects ${what} and keeps its tools`, async () => {
        await index.index({ session: 's', references: TOWN });
        await expectRejection(() =>
          index.index({ session: 's', references: references as readonly ToolReference[] }),
        );

        expect(await namesOf(index, '')).to.deep.equal(TOWN.map((one) => one.name));
      });

    it('rejects an invalid search', async () => {
      await index.index({ session: 's', references: TOWN });

      for (const bad of BAD_SEARCHES)
        await expectRejection(() =>
          index.search({ session: 's', query: 'weather', ...bad } as never),
        );
    });

    it('replaces tools with circular schemas', async () => {
      const cycle: Record<string, unknown> = { type: 'object' };
      cycle['again'] = cycle;
      const attempt = async (): Promise<void> =>
        index.index({ session: 's', references: [tool('a', '', { inputSchema: cycle as never })] });
      await attempt().catch((error: unknown) =>
        expect(error).to.be.instanceOf(InvalidArgumentError),
      ); // or it takes it
      await index.index({ session: 's', references: TOWN });

      expect((await namesOf(index, 'email'))[0]).to.equal('send_email');
    });

    it('[F84] isolates hostile names and sessions and accepts hostile queries', async () => {
      const owned = (session: string): readonly ToolReference[] =>
        HOSTILE.map((one) =>
          tool(one.trim() === '' ? 'blank' : one, one, {
            category: session,
            inputSchema: { [one]: [one] } as never,
          }),
        );
      for (const session of HOSTILE) await index.index({ session, references: owned(session) });

      for (const session of HOSTILE)
        for (const query of HOSTILE)
          for (const { category } of (await index.search({ session, query })).references)
            expect(category === session, `${session.slice(0, 20)}: ${query.slice(0, 20)}`).to.equal(
              true,
            );
      for (const session of HOSTILE)
        expect(
          await namesOf(index, { session, query: '', maxResults: 50, category: session }),
        ).to.have.lengthOf(HOSTILE.length);
    });

    it('does not modify its arguments', async () => {
      const references = deepFreeze(structuredClone(TOWN));
      await index.index(deepFreeze({ session: 's', references }));
      await index.index(
        deepFreeze({ session: 's', references: [...references, tool('one_more')] }),
      );
      const found = await index.search(
        Object.freeze({ session: 's', query: 'weather', maxResults: 2, category: 'climate' }),
      );

      expect(found.references).to.have.lengthOf(1);
      expect(references.every((reference) => !('score' in reference))).to.equal(true);
    });
  });
}

/** Tests that every index accepts texts of a length that no tool has. */
export function itAcceptsLongTexts(name: string, create: () => ToolIndex, length: number): void {
  describe(`${name} with texts of ${length} characters`, function () {
    this.timeout(60_000);

    for (const [kind, text] of Object.entries({
      'one word': 'x'.repeat(length),
      'a script without spaces': '\u5929'.repeat(length),
      humps: 'aB'.repeat(length / 2),
      capitals: 'A'.repeat(length),
      marks: '\u0301'.repeat(length),
    }))
      it(`accepts ${kind}`, async () => {
        const index = create();
        await index.index({
          session: 's',
          references: [tool(text, 'weather'), tool('weather', text), ...TOWN],
        });
        await index.index({ session: text, references: [tool('secret_weather')] });

        expect(await namesOf(index, { session: text, query: 'weather' })).to.deep.equal([
          'secret_weather',
        ]);
        expect(await namesOf(index, 'weather')).to.include('read_weather');
        expect(await namesOf(index, text)).to.be.an('array');
      });
  });
}
