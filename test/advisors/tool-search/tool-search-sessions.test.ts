import { expect } from 'chai';
import {
  AlwaysEviction,
  CompositeEviction,
  LruEviction,
  NeverEviction,
  TtlEviction,
  type ToolIndexRequest,
  type ToolSearchRequest,
  type ToolSearchResponse,
} from '../../../advisors/tool-search/index.js';
import {
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  InvalidArgumentError,
  KeywordToolIndex,
  ToolCallingAdvisor,
  ToolCallingManager,
  toolResult,
  ToolSearchAdvisor,
  type ToolIndex,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  calls,
  embeddedTexts,
  namesOf,
  RecordingIndex,
  resultsIn,
  runSearch,
  searches,
  tool,
  TOOLS,
} from '../../support/tool-search.js';
import { MODES } from '../../support/modes.js';

/** Creates an advisor that runs a function before each tool call. */
const beforeTools = (act: () => unknown) =>
  defineAdvisor({
    name: 'before-tools',
    order: 1,
    aroundTool: async (call, next) => {
      await act();
      return next(call);
    },
  });

for (const mode of MODES)
  describe(`ToolSearchAdvisor sessions, ${mode}`, () => {
    it('[F84] isolate two tenants with different tools, with one session at a time in the index', async () => {
      const advisor = new ToolSearchAdvisor({
        toolIndex: new KeywordToolIndex(),
        eviction: new LruEviction(1),
      });
      const tenants = ['acme', 'zeta'].map((tenant) => ({
        tenant,
        tools: ['weather', 'invoice', 'calendar'].map((thing) => tool(`${tenant}_${thing}`)),
      }));

      for (let round = 0; round < 5; round++)
        await Promise.all(
          tenants.map(async ({ tenant, tools }, at) => {
            const foreign = tenants[1 - at]?.tools[0]?.definition.name ?? '';
            const script = [
              searches('weather'),
              calls(`${tenant}_weather`, foreign),
              searches('invoice'),
              calls(`${tenant}_invoice`),
              'Done.',
            ];
            const { model, offered } = await runSearch(mode, script, {
              advisor,
              tools,
              conversation: tenant,
            });

            expect(
              offered
                .flat()
                .filter((name) => !name.startsWith(tenant) && name !== 'toolSearchTool'),
            ).to.deep.equal([]);
            const [found, own, refused, ...rest] = resultsIn(model.prompts.at(-1)!);
            expect(JSON.parse(found ?? '')).to.deep.equal([
              { name: `${tenant}_weather`, description: 'Gives the weather.' },
            ]);
            expect(own).to.equal(`result of ${tenant}_weather`);
            expect(refused).to.include(`There is no tool "${foreign}"`);
            expect([found, own, ...rest].join(), 'what the other tenant has').not.to.include(
              foreign.split('_')[0],
            );
          }),
        );
    });

    it('[F84] find the same after an eviction during the turn', async () => {
      const index = new RecordingIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      const evict = beforeTools(() => advisor.evictSession('c'));
      const script = [
        searches('weather'),
        calls('get_weather'),
        searches('invoice'),
        calls('get_weather', 'get_invoice'),
        'Done.',
      ];
      const { model, offered, response } = await runSearch(mode, script, {
        advisor,
        advisors: [evict],
        conversation: 'c',
      });

      expect(offered.at(-1)).to.deep.equal(['toolSearchTool', 'get_weather', 'get_invoice']);
      expect(resultsIn(model.prompts.at(-1)!).slice(-2)).to.deep.equal([
        'result of get_weather',
        'result of get_invoice',
      ]);
      expect(response.text).to.equal('Done.');
      // one private session, used for both searches and given back
      expect(index.indexed).to.have.length(2);
      expect(index.log.at(-1)).to.equal(`clear ${index.indexed[1]?.session}`);
    });

    it('[F84] find the same after an eviction during a search', async () => {
      const inner = new KeywordToolIndex();
      let evict = true;
      const slow: ToolIndex = {
        index: (request) => inner.index(request),
        search: async (request) => {
          if (evict) {
            evict = false;
            await advisor.evictSession('c');
          }
          return inner.search(request);
        },
        clear: (session) => inner.clear(session),
      };
      const advisor = new ToolSearchAdvisor({ toolIndex: slow });
      const { offered } = await runSearch(mode, [searches('weather'), 'Done.'], {
        advisor,
        conversation: 'c',
      });

      expect(offered[1]).to.deep.equal(['toolSearchTool', 'get_weather']);
    });

    it('[TSA-10] are cleared and forget found tools on eviction, and are indexed again by the next turn', async () => {
      const index = new RecordingIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      await runSearch(mode, [searches('weather'), 'Done.'], { advisor, conversation: 'c' });
      const evicted = advisor.evictSession('c');
      expect(index.log.at(-1)).to.equal('clear c');
      await evicted;
      const { offered } = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });

      expect(index.indexed.map(({ session }) => session)).to.deep.equal(['c', 'c']);
      expect(offered[0]).to.deep.equal(['toolSearchTool']);
    });

    it('are cleared in the index even if they are unknown', async () => {
      const index = new RecordingIndex();
      await new ToolSearchAdvisor({ toolIndex: index }).evictSession('unknown');

      expect(index.log).to.deep.equal(['clear unknown']);
    });

    it('are evicted when they were least recently used', async () => {
      const index = new RecordingIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index, eviction: new LruEviction(2) });
      for (const conversation of ['a', 'b', 'a', 'c', 'a', 'b'])
        await runSearch(mode, ['Hi.'], { advisor, conversation });

      expect(index.log.filter((line) => line.startsWith('clear'))).to.deep.equal([
        'clear b',
        'clear c',
      ]);
      expect(index.indexed.map(({ session }) => session)).to.deep.equal(['a', 'b', 'c', 'b']);
    });

    it('are evicted by the strategy: ttl, never, always, composite', async () => {
      let now = 0;
      const clock = (): number => now;
      const logOf = async (
        eviction: ConstructorParameters<typeof ToolSearchAdvisor>[0]['eviction'],
      ) => {
        const index = new RecordingIndex();
        const advisor = new ToolSearchAdvisor({ toolIndex: index, eviction });
        for (const conversation of ['a', 'b', 'b', 'a']) {
          await runSearch(mode, ['Hi.'], { advisor, conversation });
          now += 40;
        }
        return index.log.map((line) => line.split(':')[0]);
      };

      expect(await logOf(new TtlEviction(50, clock))).to.deep.equal([
        'index a',
        'index b',
        'clear a',
        'index a',
      ]);
      expect(await logOf(new NeverEviction())).to.deep.equal(['index a', 'index b']);
      const once = (session: string): readonly string[] => [
        `clear ${session}`,
        `index ${session}`,
        `clear ${session}`,
      ];
      const always = ['a', 'b', 'b', 'a'].flatMap(once);
      expect(await logOf(new AlwaysEviction())).to.deep.equal(always);
      const both = new CompositeEviction(new LruEviction(1), new TtlEviction(1_000, clock));
      expect(await logOf(both)).to.deep.equal([
        'index a',
        'clear a',
        'index b',
        'clear b',
        'index a',
      ]);
    });

    it('keep the tools of concurrent turns apart', async () => {
      const index = new RecordingIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      const turn = (prefix: string) =>
        runSearch(
          mode,
          [searches('weather'), calls(`${prefix}_weather`), searches('invoice'), 'Done.'],
          {
            advisor,
            conversation: 'c',
            tools: [tool(`${prefix}_weather`), tool(`${prefix}_invoice`)],
          },
        );
      const [first, second] = await Promise.all([turn('one'), turn('two')]);

      expect(first.offered.at(-1)).to.deep.equal(['toolSearchTool', 'one_weather', 'one_invoice']);
      expect(second.offered.at(-1)).to.deep.equal(['toolSearchTool', 'two_weather', 'two_invoice']);
    });

    it('share the index of equal tools, with and without a conversation', async () => {
      expect(await embeddedTexts(mode, 50)).to.equal(TOOLS.length);
    });

    it('fail their searches after a failed indexing, and index again in the next turn', async () => {
      let failing = true;
      const inner = new KeywordToolIndex();
      const index: ToolIndex = {
        index: (request) => (failing ? Promise.reject(new Error('down')) : inner.index(request)),
        search: (request) => inner.search(request),
        clear: (session) => inner.clear(session),
      };
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      const first = await runSearch(mode, [searches('weather'), 'Sorry.'], {
        advisor,
        conversation: 'c',
      });
      failing = false;
      const second = await runSearch(mode, [searches('weather'), 'Done.'], {
        advisor,
        conversation: 'c',
      });

      expect(first.offered[1]).to.deep.equal(['toolSearchTool']);
      expect(second.offered[1]).to.deep.equal(['toolSearchTool', 'get_weather']);
    });

    it('fail the turn before the model call if the index throws', async () => {
      const model = new ScriptedChatModel(['Hi.']);
      const index: ToolIndex = {
        index: () => {
          throw new InvalidArgumentError('no such tools');
        },
        search: () => ({ references: [] }),
        clear: () => undefined,
      };
      const spec = ChatClient.create(model)
        .prompt('Go.')
        .tools(...TOOLS)
        .advisors(new ToolSearchAdvisor({ toolIndex: index }));
      const failed = await spec
        .call()
        .content()
        .catch((error: unknown) => error);

      expect(failed)
        .to.be.instanceOf(InvalidArgumentError)
        .with.property('message', 'no such tools');
      expect(model.prompts).to.deep.equal([]);
    });

    it('fail no turn if the index fails to clear', async () => {
      const inner = new KeywordToolIndex();
      const cleared: string[] = [];
      const index: ToolIndex = {
        index: (request) => inner.index(request),
        search: (request) => inner.search(request),
        clear: (session) => {
          cleared.push(session);
          return Promise.reject(new Error('down'));
        },
      };
      const advisor = new ToolSearchAdvisor({ toolIndex: index, eviction: new LruEviction(1) });
      for (const conversation of ['a', 'b', 'b'])
        await runSearch(mode, ['Hi.'], { advisor, conversation });

      expect(cleared).to.deep.equal(['a']);
    });

    it('reject evictSession if the index fails to clear', async () => {
      const failure = new Error('down');
      const index: ToolIndex = {
        index: () => undefined,
        search: () => ({ references: [] }),
        clear: () => Promise.reject(failure),
      };
      const advisor = new ToolSearchAdvisor({ toolIndex: index });

      expect(await advisor.evictSession('c').catch((error: unknown) => error)).to.equal(failure);
    });

    it('are cleared before they are indexed again', async () => {
      const log: string[] = [];
      const index: ToolIndex = {
        index: ({ session }) => void log.push(`index ${session}`),
        search: () => ({ references: [] }),
        clear: async (session) => {
          await new Promise((resolve) => setImmediate(resolve));
          log.push(`clear ${session}`);
        },
      };
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      await runSearch(mode, ['Hi.'], { advisor, conversation: 'c' });
      const evicted = advisor.evictSession('c');
      await runSearch(mode, [searches('x'), 'Hi.'], { advisor, conversation: 'c' });
      await evicted;

      expect(log).to.deep.equal(['index c', 'clear c', 'index c']);
    });

    it('abort a pending search and are cleared when the run is cancelled', async () => {
      const index = new RecordingIndex({
        index: () => undefined,
        clear: () => undefined,
        search: ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason as Error));
            queueMicrotask(() => controller.abort());
          }),
      });
      const controller = new AbortController();
      const model = new ScriptedChatModel([searches('weather')]);
      const spec = ChatClient.create(model)
        .prompt('Go.')
        .tools(...TOOLS)
        .signal(controller.signal)
        .advisors(new ToolSearchAdvisor({ toolIndex: index }));
      const failed = await spec
        .call()
        .content()
        .catch((error: unknown) => error);

      expect(failed).to.have.property('code', 'cancelled');
      expect(index.searched[0]?.signal?.aborted).to.equal(true);
      expect(index.log.at(-1)).to.equal(`clear ${index.indexed[0]?.session}`);
      expect(namesOf(model.prompts[0]!)).to.deep.equal(['toolSearchTool']);
    });
  });

/** An index with asynchronous steps that records its sessions. */
class SlowIndex implements ToolIndex {
  readonly sessions = new Map<string, readonly string[]>();
  failing: ReadonlySet<string> = new Set();

  async index({ session, references }: ToolIndexRequest): Promise<void> {
    await this.pause('index');
    this.sessions.set(session, references.map(({ name }) => name)); // prettier-ignore
  }

  async search({ session, query }: ToolSearchRequest): Promise<ToolSearchResponse> {
    await this.pause('search');
    const names = this.sessions.get(session) ?? [];
    return {
      references: names
        .filter((name) => name.includes(query))
        .map((name) => ({ name, description: '', inputSchema: {} })),
    };
  }

  async clear(session: string): Promise<void> {
    await this.pause('clear');
    this.sessions.delete(session);
  }

  private async pause(step: string): Promise<void> {
    for (let tick = 0; tick < 3; tick++) await new Promise((resolve) => setImmediate(resolve));
    if (this.failing.has(step)) throw new Error(`cannot ${step}`);
  }
}

/** Resolves when pending clears are done. */
async function settled(): Promise<void> {
  for (let tick = 0; tick < 30; tick++) await new Promise((resolve) => setImmediate(resolve));
}

for (const mode of MODES)
  describe(`ToolSearchAdvisor with an asynchronous index, ${mode}`, () => {
    it('[F84] shows the model descriptions of the request, not of the index', async () => {
      const index: ToolIndex = {
        index: () => undefined,
        search: () => ({
          references: [
            {
              name: 'get_weather',
              description: 'SECRET of another tenant',
              inputSchema: { secret: true },
            },
          ],
        }),
        clear: () => undefined,
      };
      const { model } = await runSearch(mode, [searches('weather'), 'Done.'], {
        search: { toolIndex: index },
      });

      expect(resultsIn(model.prompts[1]!)).to.deep.equal([
        '[{"name":"get_weather","description":"Gives the weather."}]',
      ]);
    });

    it('[F84] shows the model no name that the turn does not have, and runs none', async () => {
      const foreign = ['secret_tool', 'Get_Weather', '__proto__', 'constructor', 'get_weather '];
      const references = [...foreign, 'get_weather'].map((name) => {
        return { name, description: `of ${name}`, inputSchema: {} };
      });
      const index: ToolIndex = {
        index: () => undefined,
        search: () => ({ references }),
        clear: () => undefined,
      };
      const { model, offered } = await runSearch(
        mode,
        [searches('weather'), calls('secret_tool'), 'Done.'],
        { search: { toolIndex: index } },
      );

      const [found, refusal] = resultsIn(model.prompts[2]!);
      expect(found).to.equal('[{"name":"get_weather","description":"Gives the weather."}]');
      expect(refusal).to.match(/^There is no tool "secret_tool"\. Tools you can call: [^"]*$/);
      expect(offered.flat().filter((name) => foreign.includes(name))).to.deep.equal([]);
    });

    it('clears the sessions of single turns, however they end', async () => {
      const index = new SlowIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      await Promise.all([
        runSearch(mode, ['Hi.'], { advisor }),
        runSearch(mode, [searches('weather'), 'Hi.'], { advisor }),
        runSearch(mode, [searches('weather'), new Error('down')], { advisor }).catch(
          () => undefined,
        ),
      ]);
      const controller = new AbortController();
      const cancel = beforeTools(() => setImmediate(() => controller.abort()));
      const spec = ChatClient.create(new ScriptedChatModel([searches('weather')]))
        .prompt('Go.')
        .tools(...TOOLS)
        .signal(controller.signal)
        .advisors(advisor, cancel, (a) => a.param(CONVERSATION_ID, 'c'));
      const failed = await spec.call().content().catch((error: unknown) => error); // prettier-ignore
      await advisor.evictSession('c');
      await settled();

      expect(failed).to.have.property('code', 'cancelled');
      expect([...index.sessions.keys()]).to.deep.equal([]);
    });

    it('indexes and clears a session one after another, in order', async () => {
      const index = new SlowIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      const turn = (name: string) =>
        runSearch(mode, ['Hi.'], { advisor, conversation: 'c', tools: [tool(name)] });
      await turn('first');
      const evicted = advisor.evictSession('c');
      await turn('second');
      await turn('third');
      await evicted;
      const { offered } = await runSearch(mode, [searches('third'), 'Done.'], {
        advisor,
        conversation: 'c',
        tools: [tool('third')],
      });

      expect(offered[1]).to.deep.equal(['toolSearchTool', 'third']);
      expect([...index.sessions]).to.deep.equal([['c', ['third']]]);
    });

    it('isolates the sessions of two advisors with one index', async () => {
      const index = new KeywordToolIndex();
      const turns = ['support', 'sales'].map((name) => ({
        advisor: new ToolSearchAdvisor({ toolIndex: index }),
        tools: [tool(`${name}_invoice`), tool(`${name}_offer`)],
        expected: ['toolSearchTool', `${name}_invoice`],
      }));
      for (let round = 0; round < 2; round++)
        for (const { advisor, tools, expected } of turns) {
          const { offered } = await runSearch(mode, [searches('invoice'), 'Done.'], {
            advisor,
            tools,
            conversation: 'anna-7',
          });

          expect(offered[1]).to.deep.equal(expected);
        }
    });

    it('starts each turn with the tools of the previous one, in the same order', async () => {
      const inner = new KeywordToolIndex();
      let pause = 3;
      const index: ToolIndex = {
        index: (request) => inner.index(request),
        search: async (request) => {
          for (let tick = pause--; tick > 0; tick--)
            await new Promise((resolve) => setImmediate(resolve));
          return inner.search(request);
        },
        clear: (session) => inner.clear(session),
      };
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      const first = await runSearch(mode, [searches('weather', 'invoice', 'calendar'), 'Done.'], {
        advisor,
        conversation: 'c',
      });
      const history =
        first.model.prompts.at(-1)?.messages.filter(({ role }) => role !== 'system') ?? [];
      const second = await runSearch(mode, [calls('get_playlist'), searches('forecast'), 'Done.'], {
        advisor,
        conversation: 'c',
        messages: history,
      });
      const third = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });

      expect(second.offered[0]).to.deep.equal(first.offered.at(-1));
      expect(third.offered[0]).to.deep.equal(second.offered.at(-1));
    });

    it('remembers tools of concurrent turns and after a failed indexing', async () => {
      const index = new SlowIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      await runSearch(mode, [searches('weather'), 'Done.'], { advisor, conversation: 'c' });
      const [, other] = await Promise.all([
        runSearch(mode, [searches('calendar'), 'Done.'], { advisor, conversation: 'c' }),
        runSearch(mode, [searches('invoice'), 'Done.'], {
          advisor,
          conversation: 'c',
          tools: TOOLS.slice(0, 4),
        }),
      ]);
      index.failing = new Set(['index']);
      await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });
      index.failing = new Set();
      const { offered } = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });

      expect(other?.offered[0]).to.deep.equal(['toolSearchTool', 'get_weather']);
      expect(offered[0]).to.have.members([
        'toolSearchTool',
        'get_weather',
        'get_calendar',
        'get_invoice',
      ]);
    });

    it('keeps a session that is used again after a failed clear', async () => {
      const index = new SlowIndex();
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      await runSearch(mode, ['Hi.'], { advisor, conversation: 'c' });
      index.failing = new Set(['clear']);
      const evicted = advisor.evictSession('c').catch((error: unknown) => error);
      const turn = runSearch(mode, [searches('weather'), 'Done.'], { advisor, conversation: 'c' });
      expect(await evicted).to.have.property('message', 'cannot clear');
      await turn;
      index.failing = new Set();
      await runSearch(mode, ['Hi.'], { advisor, conversation: 'd' });
      const { offered } = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });

      expect(offered[0]).to.deep.equal(['toolSearchTool', 'get_weather']);
    });

    it('keeps nothing of sessions that are evicted with each turn', async () => {
      for (const eviction of [
        new AlwaysEviction(),
        new CompositeEviction(new LruEviction(2), new AlwaysEviction()),
      ]) {
        const index = new SlowIndex();
        const advisor = new ToolSearchAdvisor({ toolIndex: index, eviction });
        for (let at = 0; at < 10; at++)
          await runSearch(mode, [searches('weather'), 'Hi.'], {
            advisor,
            conversation: `c${at % 5}`,
          });
        const { offered } = await runSearch(mode, ['Hi.'], { advisor, conversation: 'c0' });
        await settled();

        expect(offered[0]).to.deep.equal(['toolSearchTool']);
        expect([...index.sessions.keys()]).to.deep.equal([]);
      }
    });

    it('unlocks nothing after a search that timed out', async () => {
      const index = new SlowIndex();
      let respond = (): void => undefined;
      index.search = () =>
        new Promise((resolve) => {
          respond = () => resolve({ references: [{ name: 'get_weather' } as never] });
        });
      const advisor = new ToolSearchAdvisor({ toolIndex: index });
      const loop = new ToolCallingAdvisor({ manager: new ToolCallingManager({ toolTimeout: 5 }) });
      const first = await runSearch(mode, [searches('weather'), 'Sorry.'], {
        advisor,
        advisors: [loop],
        conversation: 'c',
      });
      respond();
      await settled();
      const second = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });

      expect(first.offered[1]).to.deep.equal(['toolSearchTool']);
      expect(second.offered[0]).to.deep.equal(['toolSearchTool']);
    });

    it('continues the turn after a failed search with onToolError throw', async () => {
      const index = new SlowIndex();
      index.failing = new Set(['search']);
      const loop = new ToolCallingAdvisor({
        manager: new ToolCallingManager({ onToolError: 'throw' }),
      });
      const { response } = await runSearch(mode, [searches('weather', ''), 'Sorry.'], {
        search: { toolIndex: index },
        advisors: [loop],
      });

      expect(response.text).to.equal('Sorry.');
    });

    it('does not offer a locked tool in the next turn', async () => {
      const advisor = new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() });
      const lock = tool('close_weather', {
        alwaysLoaded: true,
        execute: () => toolResult({ content: 'ok', locks: ['get_weather'] }),
      });
      const tools = [...TOOLS, lock];
      await runSearch(mode, [searches('weather', 'invoice'), calls('close_weather'), 'Done.'], {
        advisor,
        tools,
        conversation: 'c',
      });
      const { offered } = await runSearch(mode, ['Done.'], { advisor, tools, conversation: 'c' });

      expect(offered[0]).to.deep.equal(['toolSearchTool', 'close_weather', 'get_invoice']);
    });
  });
