import assert from 'node:assert/strict';
import type { ToolIndex, ToolReference, ToolSearchRequest } from '../tool-search/tool-index.js';
import { globalTestRunner } from './test-runner.js';

/** An index of tools, and what to check it as. */
export interface ToolIndexContract {
  /** Title of the tests. */
  readonly name: string;
  /** An index that knows nothing yet. */
  readonly create: () => ToolIndex | Promise<ToolIndex>;
  /** A query that finds a tool. @default its name */
  readonly queryFor?: (reference: ToolReference) => string;
}

/**
 * Checks an index against the contract of {@link ToolIndex}, as tests of the runner whose `describe` and `it` are global (mocha, jest,
 * vitest with `globals`).
 * @throws InvalidArgumentError if there is no such runner
 */
export function itBehavesLikeAToolIndex(contract: ToolIndexContract): void {
  const { describe, it } = globalTestRunner('itBehavesLikeAToolIndex');
  describe(`${contract.name} behaves like a tool index`, () => {
    for (const [title, law] of Object.entries(LAWS))
      it(title, async () => law(new TriedIndex(await contract.create(), contract.queryFor ?? (({ name }) => name))));
  });
}

/** An index in a test. */
class TriedIndex {
  constructor(
    readonly index: ToolIndex,
    readonly queryFor: (reference: ToolReference) => string,
  ) {}

  async give(session: string, references: readonly ToolReference[]): Promise<void> {
    await this.index.index({ session, references });
  }

  /** The names of what a search for a tool finds. */
  async find(session: string, wanted: ToolReference, more: Partial<ToolSearchRequest> = {}): Promise<readonly string[]> {
    const { references } = await this.index.search({ session, query: this.queryFor(wanted), ...more });
    const list: unknown = references;
    assert.ok(Array.isArray(list), 'search must give { references }');
    return references.map(({ name }) => name);
  }
}

const tool = (name: string, category?: string): ToolReference => {
  const inputSchema = { type: 'object', properties: { name: { type: 'string', description: `Which ${name}.` } } };
  return { name, description: `Tells everything about ${name}.`, inputSchema, ...(category !== undefined && { category }) };
};

const WEATHER = tool('weather', 'nature');
const INVOICE = tool('invoice', 'office');
const CALENDAR = tool('calendar', 'office');

const LAWS: Readonly<Record<string, (tried: TriedIndex) => Promise<void>>> = {
  'finds the tools of a session': async (tried) => {
    await tried.give('a', [WEATHER, INVOICE, CALENDAR]);
    for (const reference of [WEATHER, INVOICE, CALENDAR])
      assert.equal((await tried.find('a', reference))[0], reference.name, `the best for "${tried.queryFor(reference)}"`);
  },

  'finds nothing for a session that it does not know': async (tried) => {
    await tried.give('a', [WEATHER]);
    assert.deepEqual(await tried.find('b', WEATHER), []);
  },

  'finds other tools in place of those before': async (tried) => {
    await tried.give('a', [WEATHER, INVOICE]);
    await tried.give('a', [INVOICE, CALENDAR]);
    assert.ok(!(await tried.find('a', WEATHER)).includes(WEATHER.name), 'a tool that is gone was found');
    assert.equal((await tried.find('a', CALENDAR))[0], CALENDAR.name);
  },

  'shows no session the tools of another': async (tried) => {
    for (let round = 0; round < 3; round++) {
      await tried.give('a', [WEATHER, INVOICE]);
      await tried.give('b', [CALENDAR]);
      assert.ok(!(await tried.find('a', CALENDAR)).includes(CALENDAR.name), 'session a has found a tool of b');
      assert.ok(!(await tried.find('b', WEATHER)).includes(WEATHER.name), 'session b has found a tool of a');
    }
  },

  'forgets a session, and no other with the same tools': async (tried) => {
    for (const session of ['a', 'b']) await tried.give(session, [WEATHER, INVOICE]);
    await tried.index.clear('a');
    await tried.index.clear('nobody');
    assert.deepEqual(await tried.find('a', WEATHER), []);
    assert.equal((await tried.find('b', WEATHER))[0], WEATHER.name);
  },

  'gives no more than are wanted': async (tried) => {
    const many = Array.from({ length: 30 }, (_, at) => tool(`weather ${String.fromCharCode(97 + at)}`));
    await tried.give('a', many);
    assert.ok((await tried.find('a', WEATHER, { maxResults: 3 })).length <= 3, 'more than maxResults');
    assert.ok((await tried.find('a', WEATHER)).length <= 10, 'more than 10, where nobody says how many');
  },

  'narrows a search by category, whatever its case': async (tried) => {
    await tried.give('a', [WEATHER, INVOICE, CALENDAR]);
    const found = await tried.find('a', INVOICE, { category: 'OFFICE' });
    assert.equal(found[0], INVOICE.name);
    assert.ok(!found.includes(WEATHER.name), 'a tool of another category was found');
    assert.ok(!(await tried.find('a', WEATHER, { category: 'office' })).includes(WEATHER.name), 'a tool of another category was found');
  },

  'changes nothing of what it is given': async (tried) => {
    const given = [WEATHER, INVOICE];
    const before = structuredClone(given);
    await tried.give('a', given);
    await tried.find('a', WEATHER);
    assert.deepEqual(given, before);
  },
};
