import { mock } from 'node:test';
import { expect } from 'chai';
import { z } from 'zod';
import {
  ChatClient,
  CompactionAdvisor,
  ContextKey,
  CONVERSATION_ID,
  defineTool,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  ToolCacheAdvisor,
  toolResult,
  type ChatClientResponse,
  type Prompt,
  type Tool,
  type ToolCacheAdvisorOptions,
  type ToolCacheEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { idIn } from '../../support/offloading.js';
import { deferred, settle } from '../../support/promises.js';

const USER = new ContextKey<string | undefined>('test.user');
const EVERYONE = { scope: () => 'everyone' };

function weather(execute: (city: string, signal: AbortSignal) => unknown): Tool {
  return defineTool({
    name: 'weather',
    effect: 'read',
    input: { type: 'object', properties: { city: { type: 'string' }, unit: {} } },
    execute: (args, { signal }) => execute((args as { city: string }).city, signal),
  });
}

interface Turn {
  readonly tool: Tool;
  readonly cache: ToolCacheAdvisor;
  readonly mode?: Mode;
  readonly args?: string;
  readonly user?: string;
  readonly signal?: AbortSignal;
}

function turn({ tool, cache, mode = 'call', args = '{"city":"Rome"}', user, signal }: Turn) {
  const call = { name: tool.definition.name, arguments: args };
  const spec = ChatClient.create(new ScriptedChatModel([{ toolCalls: [call] }, 'Done.']))
    .prompt('?')
    .tools(tool)
    .advisors(cache);
  const own = user === undefined ? spec : spec.toolContext(USER, user);
  return runSpec(mode, signal ? own.signal(signal) : own);
}

const contentOf = ({ steps }: ChatClientResponse): unknown =>
  steps[0]?.toolCalls[0]?.result?.content;

const valueOf = ({ steps }: ChatClientResponse): unknown => steps[0]?.toolCalls[0]?.result?.value;

/** A tool that counts its runs, and a cache for it. */
function counting(options: Partial<ToolCacheAdvisorOptions> = {}) {
  const counter = { runs: 0 };
  const tool = weather((city) => `${city} ${++counter.runs}`);
  const cache = new ToolCacheAdvisor({ ...EVERYONE, ...options });
  return { counter, tool, cache };
}

describe('ToolCacheAdvisor', () => {
  afterEach(() => mock.restoreAll());

  for (const [options, message] of [
    [{}, 'scope must be a function, not undefined'],
    [{ ...EVERYONE, tools: 'weather' }, 'tools must be an array of names, not "weather"'],
    [{ ...EVERYONE, store: {} }, 'store must be a KeyValueStore, not an object'],
    [{ ...EVERYONE, ttl: 0 }, 'ttl must be a number > 0, not 0'],
    [{ ...EVERYONE, maxLength: 0 }, 'maxLength must be an integer >= 1, not 0'],
  ] as const)
    it(`rejects ${message}`, () => {
      expect(() => new ToolCacheAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `ToolCacheAdvisor: ${message}`,
      );
    });

  for (const mode of MODES) {
    it(`${mode}: runs equal calls once, whatever the spelling of their arguments`, async () => {
      const { counter, tool, cache } = counting();
      const own = { tool, cache, mode };

      await turn({ ...own, args: '{"city":"Rome","unit":1}' });
      const second = await turn({ ...own, args: ' { "unit": 1.0, "city": "Rome" }' });
      const other = await turn({ ...own, args: '{"city":"Oslo","unit":1}' });

      expect([contentOf(second), contentOf(other)]).to.deep.equal(['Rome 1', 'Oslo 2']);
      expect(counter.runs).to.equal(2);
    });

    it(`${mode}: never gives a user the result of another one [wso2#733, semantic-router#2134]`, async () => {
      const { counter, tool, cache } = counting({ scope: ({ context }) => context.get(USER) });
      const own = { tool, cache, mode };

      const contents = [];
      for (const user of ['anna', 'ben', 'anna', undefined, undefined])
        contents.push(contentOf(await turn({ ...own, ...(user && { user }) })));

      expect(contents).to.deep.equal(['Rome 1', 'Rome 2', 'Rome 1', 'Rome 3', 'Rome 4']);
      expect(counter.runs).to.equal(4);
    });

    it(`${mode}: equal calls of a batch and of concurrent turns share one run`, async () => {
      const gate = deferred<string>();
      let runs = 0;
      const tool = weather(() => (runs++, gate.promise));
      const cache = new ToolCacheAdvisor(EVERYONE);

      const turns = Array.from({ length: 5 }, () => turn({ tool, cache, mode }));
      await settle();
      gate.resolve('Sun.');

      expect((await Promise.all(turns)).map(contentOf)).to.deep.equal(Array(5).fill('Sun.'));
      expect(runs).to.equal(1);
    });

    it(`[D106] ${mode}: turns that overlap have a result of their own each`, async () => {
      const gate = deferred<object>();
      let runs = 0;
      const tool = weather(() => (runs++, gate.promise));
      const cache = new ToolCacheAdvisor(EVERYONE);
      const turns = [1, 2, 3].map(() => turn({ tool, cache, mode }));
      await settle();
      gate.resolve({ rows: ['a', 'b'] });

      const [first, ...others] = (await Promise.all(turns)).map(valueOf) as { rows: string[] }[];
      first?.rows.push('c');

      expect(others).to.deep.equal([{ rows: ['a', 'b'] }, { rows: ['a', 'b'] }]);
      expect(runs).to.equal(1);
    });

    it(`[D106] ${mode}: a hit equals a miss: undefined fields, -0, getters`, async () => {
      const rows = { none: undefined, zero: -0, get sum() { return 3; } }; // prettier-ignore
      const tool = weather(() => rows);
      const cache = new ToolCacheAdvisor(EVERYONE);

      const [miss, hit] = [await turn({ tool, cache, mode }), await turn({ tool, cache, mode })];

      expect(Object.entries(valueOf(miss) as object)).to.deep.equal([['zero', 0], ['sum', 3]]); // prettier-ignore
      expect(Object.is((valueOf(miss) as typeof rows).zero, 0)).to.equal(true);
      expect(valueOf(hit)).to.deep.equal(valueOf(miss));
      expect(Object.getOwnPropertyDescriptors(valueOf(hit))).to.deep.equal(
        Object.getOwnPropertyDescriptors(valueOf(miss)),
      );
      expect(contentOf(hit)).to.equal(contentOf(miss));
    });

    it(`[D106] ${mode}: a result that JSON cannot restore is not shared: each turn makes its call`, async () => {
      const gate = deferred();
      let runs = 0;
      const tool = weather(async () => (runs++, await gate.promise, { at: new Date(0) }));
      const cache = new ToolCacheAdvisor(EVERYONE);
      const turns = [1, 2].map(() => turn({ tool, cache, mode }));
      await settle();
      gate.resolve();

      const [first, second] = (await Promise.all(turns)).map(valueOf);

      expect([first, second]).to.deep.equal([{ at: new Date(0) }, { at: new Date(0) }]);
      expect(first).to.not.equal(second);
      expect(runs).to.equal(2);
    });

    it(`${mode}: the first caller of a shared call can be cancelled alone`, async () => {
      const gate = deferred<string>();
      const signals: AbortSignal[] = [];
      const tool = weather((_, signal) => (signals.push(signal), gate.promise));
      const cache = new ToolCacheAdvisor(EVERYONE);
      const controller = new AbortController();
      const first = failureOf(turn({ tool, cache, mode, signal: controller.signal }));
      await settle();
      const second = turn({ tool, cache, mode });
      await settle();

      controller.abort();
      const failure = await first;
      const abortedWithFirst = signals[0]?.aborted;
      gate.resolve('Sun.');

      expect(failure).to.have.property('code', 'cancelled');
      expect(contentOf(await second)).to.equal('Sun.');
      expect([signals.length, abortedWithFirst]).to.deep.equal([1, false]);
    });

    it(`${mode}: the last caller that is cancelled ends the call`, async () => {
      const signals: AbortSignal[] = [];
      const tool = weather((_, signal) => (signals.push(signal), new Promise(() => undefined)));
      const cache = new ToolCacheAdvisor(EVERYONE);
      const controller = new AbortController();
      const turns = [1, 2].map(() =>
        failureOf(turn({ tool, cache, mode, signal: controller.signal })),
      );
      await settle();

      controller.abort();
      await Promise.all(turns);

      expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
    });
  }

  for (const [name, failing] of [
    ['thrown', () => Promise.reject(new Error('offline'))],
    ['returned', () => toolResult({ content: 'offline', isError: true })],
  ] as const)
    it(`does not keep an error that is ${name}, nor share it`, async () => {
      const gate = deferred();
      let runs = 0;
      const tool = weather(async () => {
        await gate.promise;
        return ++runs === 1 ? failing() : `Sun ${runs}.`;
      });
      const cache = new ToolCacheAdvisor(EVERYONE);
      const turns = [1, 2].map(() => turn({ tool, cache }));
      await settle();
      gate.resolve();
      const contents = (await Promise.all(turns)).map(contentOf);

      expect(contents[0]).to.match(/offline|failed/);
      expect(contents[1]).to.equal('Sun 2.');
      expect(contentOf(await turn({ tool, cache }))).to.equal('Sun 3.');
    });

  for (const effect of ['write', 'idempotent', undefined] as const)
    it(`never keeps a result of a tool with the effect ${effect}, even if it is named`, async () => {
      let runs = 0;
      const tool = defineTool({ name: 'pay', effect, execute: () => ++runs });
      const cache = new ToolCacheAdvisor({ ...EVERYONE, tools: ['pay'] });

      await turn({ tool, cache });
      await turn({ tool, cache });

      expect(runs).to.equal(2);
    });

  for (const metadata of [{ polls: true }, { findsTools: true }, { cacheable: false }] as const)
    it(`keeps no result of a tool with ${JSON.stringify(metadata)}, and shares none`, async () => {
      let runs = 0;
      const tool = defineTool({
        name: 'status',
        effect: 'read',
        ...metadata,
        execute: () => `running ${++runs}`,
      });
      const cache = new ToolCacheAdvisor(EVERYONE);

      await Promise.all([turn({ tool, cache }), turn({ tool, cache })]);
      await turn({ tool, cache });

      expect(runs).to.equal(3);
    });

  it('gives no conversation an offloaded result of another one, whatever the scope', async () => {
    const cache = new ToolCacheAdvisor(EVERYONE);
    const offload = { store: new InMemoryKeyValueStore(), over: 2_000 };
    const compaction = new CompactionAdvisor({ maxTokens: 100_000, offload });
    const long = weather(() => 'secret '.repeat(1_000));
    let id = '';
    const script = ({ messages }: Prompt, index: number) => {
      const last = messages.at(-1);
      id ||= last?.role === 'tool' ? idIn(last.content) : '';
      if (index === 0) return { toolCalls: [{ name: 'weather', arguments: { city: 'Rome' } }] };
      return index === 1 ? { toolCalls: [{ name: 'read_result', arguments: { id } }] } : 'Done.';
    };
    const readIn = async (conversation: string): Promise<unknown> => {
      const { steps } = await ChatClient.create(new ScriptedChatModel(script))
        .prompt('?')
        .tools(long)
        .advisors(cache, compaction, (advisors) => advisors.param(CONVERSATION_ID, conversation))
        .call()
        .chatClientResponse();
      return steps[1]?.toolCalls[0]?.result?.content;
    };

    expect(await readIn('anna')).to.match(/secret/);
    expect(await readIn('ben')).to.match(/^No result with the id/);
  });

  it('keeps only results of the tools that are named', async () => {
    const { counter, tool, cache } = counting({ tools: ['another'] });

    await turn({ tool, cache });
    await turn({ tool, cache });

    expect(counter.runs).to.equal(2);
  });

  it('does not give a tool with another schema the results of its earlier version', async () => {
    const { counter, tool, cache } = counting();
    const changed = { ...tool, definition: { ...tool.definition, description: 'In Fahrenheit.' } };

    await turn({ tool, cache });
    await turn({ tool: changed, cache });

    expect(counter.runs).to.equal(2);
  });

  it('keeps no result that it could not restore whole, and no call with arguments that JSON would make equal', async () => {
    const runs = { value: 0, date: 0 };
    const dates = defineTool({
      name: 'dates',
      effect: 'read',
      input: z.object({ at: z.coerce.date() }),
      execute: ({ at }) => `${at.getTime()} ${++runs.date}`,
    });
    const tool = weather(() => ({ at: new Date(0), run: ++runs.value }));
    const cache = new ToolCacheAdvisor(EVERYONE);

    for (let each = 0; each < 2; each++) {
      await turn({ tool, cache });
      await turn({ tool: dates, cache, args: `{"at":"2026-01-0${each + 1}"}` });
    }

    expect(runs).to.deep.equal({ value: 2, date: 2 });
  });

  it('restores the value and media of a result', async () => {
    const data = new Uint8Array([0, 255, 7]);
    let runs = 0;
    const tool = weather(() =>
      toolResult({
        content: [{ type: 'image', data, mediaType: 'image/png' }],
        value: { run: ++runs },
      }),
    );
    const cache = new ToolCacheAdvisor(EVERYONE);

    const results = [await turn({ tool, cache }), await turn({ tool, cache })].map(
      ({ steps }) => steps[0]?.toolCalls[0]?.result,
    );

    expect(results[1]).to.deep.equal(results[0]);
    expect(runs).to.equal(1);
  });

  it('does not keep a result that is too long', async () => {
    const { counter, tool, cache } = counting({ maxLength: 20 });

    await turn({ tool, cache });
    await turn({ tool, cache });

    expect(counter.runs).to.equal(2);
  });

  it('keeps a result for its lifetime, and as many as the store takes', async () => {
    const store = new InMemoryKeyValueStore({ maxKeys: 2, onFull: 'evict' });
    const { counter, tool, cache } = counting({ store, ttl: 1_000 });
    await turn({ tool, cache });
    const end = Date.now() + 1_000;
    mock.method(Date, 'now', () => end + 1);
    await turn({ tool, cache });
    mock.restoreAll();
    expect(counter.runs).to.equal(2);

    const long = counting({ store: new InMemoryKeyValueStore({ maxKeys: 2, onFull: 'evict' }) });
    for (const city of ['a', 'b', 'c', 'c', 'b', 'a'])
      await turn({ ...long, args: JSON.stringify({ city }) });
    expect(long.counter.runs).to.equal(4);
  });

  it('makes the call if the store fails, and reports it', async () => {
    const down = new Error('the store is down');
    const { tool, cache } = counting({
      store: Object.assign(new InMemoryKeyValueStore(), {
        get: () => Promise.reject(down),
        set: () => Promise.reject(down),
      }),
    });

    const failed = { toolName: 'weather', outcome: 'failed', error: down };
    expect(await eventsOf(tool, cache)).to.deep.equal([failed, failed]);
  });

  it('shows a hit, and a shared call', async () => {
    const { tool, cache } = counting();

    const [first, second] = [await eventsOf(tool, cache), await eventsOf(tool, cache)];
    const batch = await eventsOf(tool, counting().cache, 2);

    expect([first, second, batch]).to.deep.equal([
      [],
      [{ toolName: 'weather', outcome: 'hit' }],
      [{ toolName: 'weather', outcome: 'shared' }],
    ]);
  });
});

/** The events of a cache in a turn with some equal calls, without the ids of these. */
async function eventsOf(tool: Tool, cache: ToolCacheAdvisor, calls = 1) {
  const toolCalls = Array.from({ length: calls }, () => ({
    name: 'weather',
    arguments: { city: 'Rome' },
  }));
  const events: Omit<ToolCacheEvent, 'callId'>[] = [];
  const stream = ChatClient.create(new ScriptedChatModel([{ toolCalls }, 'Done.']))
    .prompt('?')
    .tools(tool)
    .advisors(cache)
    .stream();
  for await (const event of stream.events())
    if (event.type === 'custom' && event.name === 'tool-cache') {
      const { callId: _, ...data } = event.data;
      events.push(data);
    }
  return events;
}
