import assert from 'node:assert/strict';
import type {
  ToolIndex,
  ToolReference,
  ToolSearchRequest,
} from '../stores/tool-indexes/tool-index.js';
import { describeLaws, type TestRunner } from './test-runner.js';

/** A {@link ToolIndex} under test. */
export interface ToolIndexContract {
  /** Title of the tests. */
  readonly name: string;
  /** Returns an empty index. */
  readonly create: () => ToolIndex | Promise<ToolIndex>;
  /** A query that finds a tool. @default its name */
  readonly queryFor?: (reference: ToolReference) => string;
}

/**
 * Tests an index against the contract of {@link ToolIndex}.
 * @param runner functions of the test runner. @default the globals `describe` and `it`
 * @throws {@link InvalidArgumentError} without these functions
 */
export function itBehavesLikeAToolIndex(contract: ToolIndexContract, runner?: TestRunner): void {
  const { name: title, queryFor = ({ name }) => name } = contract;
  const check = async (law: (typeof LAWS)[string]): Promise<void> =>
    law(new IndexUnderTest(await contract.create(), queryFor));
  const suite = `${title} behaves like a tool index`;
  describeLaws('itBehavesLikeAToolIndex', suite, LAWS, runner, check);
}

class IndexUnderTest {
  constructor(
    readonly index: ToolIndex,
    private readonly queryFor: (reference: ToolReference) => string,
  ) {}

  async setTools(session: string, ...references: readonly ToolReference[]): Promise<void> {
    await this.index.index({ session, references });
  }

  /** The names of the tools that a search for one of them finds, best first. */
  async namesFor(
    session: string,
    wanted: ToolReference,
    more: Partial<ToolSearchRequest> = {},
  ): Promise<readonly string[]> {
    const query = this.queryFor(wanted);
    const { references } = await this.index.search({ session, query, ...more });
    assert.ok(Array.isArray(references as unknown), 'search must return { references }');
    return references.map(({ name }) => name);
  }

  async findsFirst(session: string, wanted: ToolReference): Promise<void> {
    const [best] = await this.namesFor(session, wanted);
    assert.equal(best, wanted.name, `session ${session}: the best match for "${wanted.name}"`);
  }

  async doesNotFind(
    session: string,
    tool: ToolReference,
    more?: Partial<ToolSearchRequest>,
  ): Promise<void> {
    const names = await this.namesFor(session, tool, more);
    assert.ok(!names.includes(tool.name), `session ${session} found "${tool.name}"`);
  }
}

const tool = (name: string, category?: string): ToolReference => ({
  name,
  description: `Returns everything about ${name}.`,
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string', description: `Which ${name}.` } },
  },
  ...(category !== undefined && { category }),
});

const WEATHER = tool('weather', 'nature');
const INVOICE = tool('invoice', 'office');
const CALENDAR = tool('calendar', 'office');

const LAWS: Readonly<Record<string, (tested: IndexUnderTest) => Promise<void>>> = {
  'finds the tools of a session': async (tested) => {
    await tested.setTools('a', WEATHER, INVOICE, CALENDAR);
    for (const reference of [WEATHER, INVOICE, CALENDAR]) await tested.findsFirst('a', reference);
  },

  'finds nothing for an unknown session': async (tested) => {
    await tested.setTools('a', WEATHER);
    assert.deepEqual(await tested.namesFor('b', WEATHER), []);
  },

  'replaces the tools of a session': async (tested) => {
    await tested.setTools('a', WEATHER, INVOICE);
    await tested.setTools('a', INVOICE, CALENDAR);
    await tested.doesNotFind('a', WEATHER);
    await tested.findsFirst('a', CALENDAR);
  },

  'adds, replaces and removes single tools, if it can': async (tested) => {
    const { index } = tested;
    if (!index.add || !index.remove) return;
    for (const session of ['a', 'b']) await tested.setTools(session, WEATHER, INVOICE);
    await index.add({ session: 'a', references: [CALENDAR] });
    for (const reference of [WEATHER, CALENDAR]) await tested.findsFirst('a', reference);
    await index.add({ session: 'a', references: [{ ...INVOICE, category: 'money' }] });
    const money = await tested.namesFor('a', INVOICE, { category: 'money' });
    assert.deepEqual(money, [INVOICE.name], 'a tool of the same name is replaced');
    await index.remove({ session: 'a', names: [WEATHER.name, 'unknown'] });
    await tested.doesNotFind('a', WEATHER);
    await tested.findsFirst('a', CALENDAR);
    await tested.doesNotFind('b', CALENDAR);
    await tested.findsFirst('b', WEATHER);
  },

  'finds no tools of another session': async (tested) => {
    for (let round = 0; round < 3; round++) {
      await tested.setTools('a', WEATHER, INVOICE);
      await tested.setTools('b', CALENDAR);
      await tested.doesNotFind('a', CALENDAR);
      await tested.doesNotFind('b', WEATHER);
    }
  },

  'clears a session, and no other with the same tools': async (tested) => {
    for (const session of ['a', 'b']) await tested.setTools(session, WEATHER, INVOICE);
    await tested.index.clear('a');
    await tested.index.clear('unknown');
    assert.deepEqual(await tested.namesFor('a', WEATHER), []);
    await tested.findsFirst('b', WEATHER);
  },

  'removes all sessions when it is closed, if it can, and stays usable': async (tested) => {
    const { index } = tested;
    if (!index.close) return;
    for (const session of ['a', 'b']) await tested.setTools(session, WEATHER, INVOICE);
    await index.close();
    for (const session of ['a', 'b']) await tested.doesNotFind(session, WEATHER);
    await tested.setTools('a', WEATHER);
    await tested.findsFirst('a', WEATHER);
  },

  'returns at most maxResults tools, 10 by default': async (tested) => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    await tested.setTools('a', ...letters.map((letter) => tool(`weather ${letter}`)));
    const three = await tested.namesFor('a', WEATHER, { maxResults: 3 });
    assert.ok(three.length <= 3, 'more than maxResults');
    assert.ok((await tested.namesFor('a', WEATHER)).length <= 10, 'more than 10 by default');
  },

  'filters by category, ignoring case': async (tested) => {
    await tested.setTools('a', WEATHER, INVOICE, CALENDAR);
    const [best] = await tested.namesFor('a', INVOICE, { category: 'OFFICE' });
    assert.equal(best, INVOICE.name);
    await tested.doesNotFind('a', WEATHER, { category: 'office' });
  },

  'leaves the indexed references unchanged': async (tested) => {
    const references = [WEATHER, INVOICE];
    const copy = structuredClone(references);
    await tested.index.index({ session: 'a', references });
    await tested.namesFor('a', WEATHER);
    assert.deepEqual(references, copy);
  },
};
