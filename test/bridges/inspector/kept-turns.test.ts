import { expect } from 'chai';
import { setImmediate } from 'node:timers/promises';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  RetrievalAdvisor,
} from '../../../src/index.js';
import type { Inspector, InspectedTurn } from '../../../src/bridges/inspector/index.js';
import type { TurnsEvent } from '../../../src/bridges/inspector/inspected-source.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { entriesOf, latestTurn, newInspector } from '../../support/inspected-turns.js';
import { problemsOfTurns } from '../../support/inspector-laws.js';
import { unhandledErrorsOf } from '../../support/unhandled-errors.js';
import { WireServer } from '../../support/wire-server.js';

const CALL = { kind: 'chat', attempt: 1, outcome: 'answered' };

const KEY = 'sk-proj-abcdefghijklmnopqrstuvwx0123456789';

/** Runs a turn with an answer. */
async function ask(inspector: Inspector, text = '?', answer = 'Yes.'): Promise<void> {
  const client = ChatClient.create(new ScriptedChatModel([answer]));
  await client.prompt(text).advisors(inspector).call().content();
}

describe('the turns of an inspector', () => {
  it('are the latest ones, within their number', async () => {
    const inspector = newInspector({ maxTurns: 3 });
    const removed: string[] = [];
    inspector.subscribe((event) => {
      if (event.type === 'removed') removed.push(...event.ids);
    });

    for (let at = 0; at < 5; at++) await ask(inspector, `q${at}`);

    expect(inspector.turns().map(({ question }) => question)).to.deep.equal(['q2', 'q3', 'q4']);
    expect(inspector.kept()).to.deep.include({ turns: 3, maxTurns: 3 });
    expect(removed).to.have.length(2);
  });

  it('are the latest ones, within their bytes', async () => {
    const inspector = newInspector({ maxBytes: 100_000 });

    for (let at = 0; at < 20; at++) await ask(inspector, `${at} ${'word '.repeat(1_000)}`);

    const { turns, bytes } = inspector.kept();
    expect(bytes).to.be.lessThan(100_000);
    expect(turns).to.be.within(4, 12);
    expect(inspector.turns().at(-1)?.question).to.match(/^19 /);
    inspector.clear();
    expect(inspector.kept()).to.deep.include({ turns: 0, bytes: 0 });
  });

  it('keep no request of an iteration after the end of the turn', async () => {
    const server = await WireServer.start(({ index, response }) => {
      const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };
      const asking = { role: 'assistant', content: null, tool_calls: [call] };
      const message = index === 0 ? asking : { role: 'assistant', content: 'sun' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    });
    const model = new OpenAIChatModel({ model: 'm', apiKey: 'none', baseURL: server.baseURL });
    const requests: WeakRef<object>[] = [];
    const spy = defineAdvisor({
      name: 'spy',
      order: AdvisorOrder.LOGGER,
      before: (request) => {
        requests.push(new WeakRef(request));
        return request;
      },
    });
    const look = defineTool({ name: 'look', input: { type: 'object' }, execute: () => 'sun' });
    const inspector = newInspector();

    await ChatClient.create(model)
      .prompt('?')
      .tools(look)
      .advisors(inspector, spy)
      .call()
      .content();
    await server.close();
    await setImmediate(); // a request is kept until the next task
    collectGarbage();

    expect(requests.map((request) => request.deref())).to.deep.equal([undefined, undefined]);
    expect(latestTurn(inspector).requests[1]?.wire?.body).to.have.property('messages');
  });

  it('count each message of a long loop once', async () => {
    const inspector = newInspector();
    const page = defineTool({ name: 'page', execute: () => 'x'.repeat(10_000) });
    const calls = Array.from({ length: 10 }, (_, at) => ({
      toolCalls: [{ name: 'page', id: `p${at}`, arguments: { at } }],
    }));
    const client = ChatClient.create(new ScriptedChatModel([...calls, 'Done.']));

    await client.prompt('?').tools(page).advisors(inspector).call().content();

    // each result in the timeline and in the conversation
    expect(inspector.kept().bytes).to.be.within(400_000, 450_000);
    expect(latestTurn(inspector).requests).to.have.length(11);
  });

  it('lose the end of a turn with too many parts, and show that', async () => {
    const inspector = newInspector({ maxEntries: 20 });
    const chatty = defineTool({
      name: 'chatty',
      execute: (_, { progress }) => {
        for (let at = 0; at < 100; at++) progress({ at });
        return 'ok';
      },
    });
    const script = [{ toolCalls: [{ name: 'chatty', id: 'c' }] }, 'Done.'];
    const client = ChatClient.create(new ScriptedChatModel(script));

    const text = await client.prompt('?').tools(chatty).advisors(inspector).call().content();

    expect(text).to.equal('Done.');
    const turn = latestTurn(inspector);
    expect(turn.timeline).to.have.length(20);
    expect(turn).to.deep.include({ isCut: true, outcome: 'answered', answer: 'Done.' });
  });

  it('are reported to listeners, a turn that runs ten times in a second', async () => {
    const inspector = newInspector();
    const events: TurnsEvent[] = [];
    const release = inspector.subscribe((event) => {
      events.push(event);
      throw new Error('a listener');
    });
    const model = new ScriptedChatModel([{ text: 'word '.repeat(300), delay: 1 }]);

    const reported = await unhandledErrorsOf(async () => {
      const spec = ChatClient.create(model).prompt('?').advisors(inspector);
      await spec.stream().finalResponse();
      await new Promise((resolve) => setTimeout(resolve, 150));
    });

    const turns = events.flatMap((event) => (event.type === 'turn' ? [event.turn] : []));
    expect(turns.at(-1)?.outcome).to.equal('answered');
    const { startedAt = 0, duration = 0 } = turns.at(-1) ?? {};
    expect(turns.length).to.be.within(2, 3 + (duration + 150) / 100);
    expect(startedAt).to.be.greaterThan(0);
    expect(reported).to.have.length(events.length);
    release();
    const { length } = events;
    await ask(inspector);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(events).to.have.length(length);
  });
});

describe('a turn that is shown', () => {
  it('has no secrets, by rules, by names and by the function of the application', async () => {
    const inspector = newInspector({ redact: (text) => text.replaceAll('Anna', '[name]') });
    const login = defineTool({ name: 'login', execute: () => `token ${KEY}` });
    const advisor = {
      ...defineAdvisor({ name: 'own', order: 6_000, before: () => undefined }),
      options: { apiKey: 'hunter2', nested: { password: 'hunter2' }, onEnd: ask, max: 3 },
    };
    const script = [
      { toolCalls: [{ name: 'login', id: 'l', arguments: { password: 'hunter2', user: 'Anna' } }] },
      `The key of Anna is ${KEY}.`,
    ];
    const client = ChatClient.create(new ScriptedChatModel(script));
    const spec = client.prompt(`I am Anna, with ${KEY}.`).tools(login);

    await spec.advisors(inspector, advisor).call().content();

    const shown = JSON.stringify([inspector.turns(), latestTurn(inspector)]);
    expect(shown).not.to.include(KEY);
    expect(shown).not.to.include('hunter2');
    expect(shown).not.to.include('Anna');
    expect(shown).to.include('[name]');
    const own = latestTurn(inspector).chain.advisors.find(({ name }) => name === 'own');
    expect(own?.options).to.deep.equal({
      apiKey: '***',
      nested: { password: '***' },
      onEnd: 'ask()',
      max: 3,
    });
  });

  it('has no text at all if `redact` fails, which is reported', async () => {
    const inspector = newInspector({
      redact: () => {
        throw new Error('broken');
      },
    });

    await ask(inspector, 'secret?', 'secret!');

    const reported = await unhandledErrorsOf(async () => {
      expect(JSON.stringify(latestTurn(inspector))).not.to.include('secret');
    });
    expect(reported.length).to.be.greaterThan(0);
  });

  it('is not failed by parts that break their types', async () => {
    const inspector = newInspector();
    const retriever = { retrieve: () => Promise.resolve([{ id: 'd', text: 'Ulm', metadata: {} }]) };
    const hostile = new Proxy(new Error('x'), {
      get: () => {
        throw new Error('a getter');
      },
    });
    const thrower = defineTool({
      name: 'thrower',
      execute: (_, { progress }) => {
        progress(hostile);
        throw hostile;
      },
    });
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const script = [{ toolCalls: [{ name: 'thrower', id: 't' }] }, 'Done.'];
    const spec = ChatClient.create(new ScriptedChatModel(script)).prompt('?').tools(thrower);
    const odd = { ...defineAdvisor({ name: 'odd', order: 1, before: () => undefined }), cycle };
    const retrieval = new RetrievalAdvisor({ retriever, scope: () => 'x' });

    const text = await spec.advisors(inspector, odd, retrieval).call().content();

    expect(text).to.equal('Done.');
    const turn = latestTurn(inspector);
    expect(() => JSON.stringify(turn)).not.to.throw();
    expect(entriesOf(turn)).to.include('tool-call thrower: error');
    expect(entriesOf(turn).some((each) => each.startsWith('retrieval'))).to.equal(true);
  });
});

describe('an exported turn', () => {
  it('is the same turn in another inspector', async () => {
    const inspector = newInspector();
    const memo = {
      ...defineAdvisor({ name: 'memo', order: 2_000, before: () => undefined }),
      inspect: () => ({ notes: ['a'], key: KEY }),
    };
    const client = ChatClient.create(
      new ScriptedChatModel([{ toolCalls: [{ name: 'look' }] }, 'x']),
    );
    const look = defineTool({ name: 'look', execute: () => 'seen' });
    await client.prompt('?').tools(look).advisors(inspector, memo).call().content();
    const file = JSON.stringify(await inspector.export());
    const other = newInspector();

    const [id = ''] = other.import(file);

    const [before, after] = [latestTurn(inspector), other.turn(id)];
    const same = { id, source: 'file', isLive: false } as const;
    expect(after).to.deep.equal({ ...before, ...same });
    expect(other.turns()[0]).to.deep.equal({ ...inspector.turns()[0], id, source: 'file' });
    const states = [{ advisor: 'memo', state: { notes: ['a'], key: '***' } }];
    expect(await other.states(id)).to.deep.equal(states);
    expect(other.live(id)).to.equal(undefined);
    expect((await other.export([id])).states[id]).to.deep.equal(states);
  });

  it('is the same turn whatever texts, names and values its parts have', async () => {
    const half = `cut ${'x'.repeat(190)}${'😀'.repeat(8)}\ud83d`;
    const values: Readonly<Record<string, unknown>> = {
      half,
      [half]: half,
      keys: JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}}}') as unknown,
      numbers: [NaN, 2n ** 70n],
      holes: Object.assign([], { length: 2 }),
    };
    const noisy = defineTool({
      name: 'noisy',
      execute: (_, { progress }) => {
        progress(values);
        throw new Error(half);
      },
    });
    const odd = {
      ...defineAdvisor({ name: 'odd', order: 2_000, before: () => undefined }),
      inspect: () => 'no object' as never,
      options: values,
    };
    const usage = { inputTokens: NaN, outputTokens: 2n as never, totalTokens: 5, cachedInputTokens: NaN }; // prettier-ignore
    const script = [{ text: half, usage, toolCalls: [{ name: 'noisy', id: 'a' }] }, 'Done.'];
    const bytes = new Uint8Array(8);
    const content = [
      { type: 'text', text: `Look: ${half}` },
      { type: 'image', data: bytes, mediaType: 'image/png' },
      { type: 'image', url: 'https://a.example/?key=AKIAIOSFODNN7EXAMPLE' },
      { type: 'raw', value: undefined },
    ] as const;

    for (const redact of [undefined, (text: string) => text.slice(0, 1), () => '']) {
      const inspector = newInspector({ redact });
      await ChatClient.create(new ScriptedChatModel(script))
        .prompt()
        .messages({ role: 'user', content })
        .tools(noisy)
        .advisors(inspector, odd)
        .call()
        .content();

      expect(await problemsOfTurns(inspector)).to.deep.equal([]);
      const [message] = latestTurn(inspector).requests[0]?.messages ?? [];
      expect(message).to.have.property('role', 'user');
      const { timeline, ledger } = latestTurn(inspector);
      const used = { inputTokens: 0, outputTokens: 0, totalTokens: 5 };
      expect(timeline.find(({ kind }) => kind === 'model-call')?.usage).to.deep.equal(used);
      expect(ledger[0]?.usage).to.deep.equal(used);
      expect(JSON.stringify(await inspector.export())).not.to.match(/\\ud83d/);
    }
  });

  it('is refused if it is none, with the reason', async () => {
    const inspector = newInspector({ maxBytes: 1_000_000 });
    await ask(inspector);
    const file = await inspector.export();
    const [turn] = file.turns as readonly [InspectedTurn];
    const withTurn = (change: object): unknown => ({ ...file, turns: [{ ...turn, ...change }] });
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

    for (const [given, reason] of [
      ['{', 'is no JSON'],
      ['null', 'its format must be "advisor-chain/turns"'],
      [undefined, 'is no JSON'],
      [{ ...file, format: 'x' }, 'not "x"'],
      [{ ...file, version: 2 }, 'the version 2'],
      [{ ...file, turns: {} }, 'turns must be a list'],
      [withTurn({ question: 1 }), 'turns[0].question must be a string, not 1'],
      [withTurn({ timeline: [{}] }), 'turns[0].timeline[0].id must be a number'],
      [withTurn({ requests: [{ ...turn.requests[0], messages: [{ role: 'x' }] }] }), 'messages[0]'],
      [withTurn({ ledger: [{ ...CALL, cost: {} }] }), 'turns[0].ledger[0].cost must be a number'],
      [
        withTurn({
          usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedInputTokens: {} },
        }),
        'turns[0].usage.cachedInputTokens must be a number',
      ],
      [withTurn({ outcome: 'great' }), 'turns[0].outcome must be one of'],
      [`{"__proto__":{"a":1},"format":"advisor-chain/turns"}`, '"__proto__"'],
      [deep, 'nested deeper'],
      ['x'.repeat(600_000), 'larger than all turns'],
    ] as const) {
      const attempt = (): unknown => inspector.import(given);
      expect(attempt).to.throw(InvalidArgumentError, reason);
    }
    expect(inspector.turns()).to.have.length(1);
    expect(({} as { a?: unknown }).a).to.equal(undefined);
  });
});
