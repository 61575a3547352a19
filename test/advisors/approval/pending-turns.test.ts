import { expect } from 'chai';
import {
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  ModelCallError,
  type ApprovalAdvisorOptions,
  type ChatResponse,
  type KeyValueStore,
  type PausedTurn,
  type PauseOptions,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { StateSeal } from '../../../advisors/approval/state-seal.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { shortTexts } from '../../support/conversation.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, openState, SECRET, untilAtRest } from '../../support/paused-turns.js';
import { deferred } from '../../support/promises.js';

const pays = { toolCalls: [{ id: 'c1', name: 'look' }, { id: 'c2', name: 'pay' }] }; // prettier-ignore

interface Setting {
  readonly store?: KeyValueStore;
  readonly script?: Script;
  readonly tools?: readonly Tool[];
  readonly pause?: Partial<PauseOptions>;
  readonly options?: ApprovalAdvisorOptions;
}

/** A client as each process makes it: processes share the store alone. */
function setUp({
  store = new InMemoryKeyValueStore(),
  script = [pays, 'Paid.'],
  tools = [],
  pause,
  options,
}: Setting = {}) {
  // prettier-ignore
  const ran: string[] = [];
  const look = defineTool({ name: 'look', effect: 'read', execute: () => 'seen' });
  const pay = defineTool({
    name: 'pay',
    effect: 'write',
    execute: () => `paid ${ran.push('pay')}`,
  });
  const approval = new ApprovalAdvisor({ ...options, pause: { secrets: SECRET, store, ...pause } });
  const client = ChatClient.builder(new ScriptedChatModel(script))
    .defaultSystem('You pay.')
    .defaultTools(look, pay, ...tools)
    .defaultAdvisors(approval)
    .build();
  const ask = (id = 'anna-7'): PromptSpec => within(client.prompt('Pay.'), id);
  return { store, client, ran, ask };
}

const within = (spec: PromptSpec, id: string): PromptSpec =>
  spec.advisors((a) => a.param(CONVERSATION_ID, id));
const pausedOf = (response: ChatResponse): Required<PausedTurn> =>
  response.paused as Required<PausedTurn>;
const reasonOf = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => 'resumed',
    (error: { readonly reason?: string; readonly message: string }) =>
      error.reason ?? error.message,
  );

describe('paused turns of a conversation', () => {
  for (const mode of MODES)
    it(`are found with their requests and messages, and resumed by their id in another process (${mode})`, async () => {
      const { store, ask } = setUp();
      const begin = Date.now();
      const response = await runSpec(mode, ask().turnId('turn-1'));
      const other = setUp({ store, script: ['Paid.'] });

      const [pending, ...more] = await other.client.pending('anna-7');
      const resumed = other.client.resume(pending?.id ?? '', decideAll(response));
      const end = await runSpec(mode, resumed);

      expect(pending).to.include({ id: response.paused?.id, turnId: 'turn-1' });
      expect(pending?.at).to.be.within(begin, Date.now());
      expect(pending?.requests).to.deep.equal(response.paused?.requests);
      expect(shortTexts(pending?.messages ?? [])).to.deep.equal(['Pay.', '>c1>c2', '<c1']);
      expect([more, end.text, other.ran]).to.deep.equal([[], 'Paid.', ['pay']]);
      expect(response.paused?.id).to.match(/^[0-9a-f]{32}$/);
    });

  for (const mode of MODES)
    it(`are over when they are answered, and their ids are used (${mode})`, async () => {
      const { client, ran, ask } = setUp();
      const response = await runSpec(mode, ask());
      const resumed = client.resume(pausedOf(response).id, decideAll(response));
      const { run } = await runSpec(mode, resumed);
      await run?.settled;

      expect(await client.pending('anna-7')).to.deep.equal([]);
      expect(await reasonOf(runSpec(mode, resumed))).to.equal('used');
      expect(ran).to.deep.equal(['pay']);
    });

  it('leave neither a state nor a listing in the store when they are over', async () => {
    const keys = new Map<string, string>();
    const store = new InMemoryKeyValueStore();
    const watched: KeyValueStore = {
      get: (key) => store.get(key),
      add: (...args) => store.add(...args),
      set: (key, value, options) => (keys.set(key, value), store.set(key, value, options)),
      delete: (key, options) => (keys.delete(key), store.delete(key, options)),
    };
    const { client, ask } = setUp({ store: watched });
    const response = await ask().call().chatResponse();
    const { id, state } = pausedOf(response);
    const kept = [...keys.values()].join();

    const { run } = await client.resume(id, decideAll(response)).call().chatClientResponse();
    await run?.settled;

    expect(kept).not.to.include('Pay.');
    expect(keys.has(`paused-turn ${id} state`)).to.equal(false);
    expect([...keys.values()]).to.include('[]');
    expect(await reasonOf(client.resume(state, decideAll(response)).call().content())).to.equal('used'); // prettier-ignore
  });

  it('have the same id at each of their pauses, which leads to what is open', async () => {
    const twice = { toolCalls: [{ id: 'c1', name: 'pay' }, { id: 'c2', name: 'pay' }] }; // prettier-ignore
    const { client, ran, ask } = setUp({ script: [twice, 'Paid.'] });
    const first = pausedOf(await ask().call().chatResponse());
    const [one, two] = first.requests.map((request) => request.id) as [string, string];
    const allow = { type: 'allow', by: 'anna' } as const;

    const second = pausedOf(
      await client
        .resume(first.id, { [one]: allow })
        .call()
        .chatResponse(),
    );
    const pending = await client.pending('anna-7');
    const changed = client.resume(first.id, { [one]: { type: 'deny' } });
    const text = await client
      .resume(first.id, { [one]: allow, [two]: allow })
      .call()
      .content();

    expect(second.id).to.equal(first.id);
    expect(pending.map(({ id, requests }) => [id, requests.map((each) => each.id)])).to.deep.equal([
      [first.id, [two]],
    ]);
    expect(shortTexts(pending[0]?.messages ?? [])).to.deep.equal(['Pay.', '>c1>c2', '<c1']);
    expect(await reasonOf(changed.call().content())).to.equal('used');
    expect([text, ran]).to.deep.equal(['Paid.', ['pay', 'pay']]);
  });

  it('are listed in the order of their pauses, without the turns of other conversations', async () => {
    const { client, ask } = setUp({ script: () => pays });
    const ids: string[] = [];
    for (const id of ['anna-7', 'ben-8', 'anna-7'])
      ids.push(pausedOf(await ask(id).call().chatResponse()).id);
    await client.prompt('Pay.').call().chatResponse(); // in no conversation

    const pending = await client.pending('anna-7');

    expect(pending.map(({ id }) => id)).to.deep.equal([ids[0], ids[2]]);
    expect(await client.pending('carla-9')).to.deep.equal([]);
  });

  it('are resumed by their id also without a conversation', async () => {
    const { client } = setUp();
    const response = await client.prompt('Pay.').call().chatResponse();

    const resumed = client.resume(pausedOf(response).id, decideAll(response));

    expect(await resumed.call().content()).to.equal('Paid.');
  });

  it('are not pending while they run, and one of two resumes wins', async () => {
    const [begun, finished] = [deferred(), deferred()];
    const slow = defineTool({
      name: 'slow',
      effect: 'write',
      execute: () => (begun.resolve(), finished.promise.then(() => '')),
    });
    const script = [{ toolCalls: [{ id: 'c1', name: 'slow' }] }, 'Done.'];
    const { store, client, ask } = setUp({ script, tools: [slow] });
    const response = await ask().call().chatResponse();
    const other = setUp({ store, script: ['Done.'], tools: [slow] });
    const resume = (each: ChatClient): Promise<unknown> =>
      each.resume(pausedOf(response).id, decideAll(response)).call().content();

    const ends = Promise.all([resume(client), resume(other.client)].map(reasonOf));
    await begun.promise;
    const pending = await client.pending('anna-7');
    finished.resolve();

    expect(pending).to.deep.equal([]);
    expect((await ends).toSorted()).to.deep.equal(['resumed', 'running']);
  });

  for (const mode of MODES)
    it(`that fail when they are resumed wait without requests, and continue (${mode})`, async () => {
      const down = new ModelCallError('down', { status: 503 });
      const { client, ran, ask } = setUp({ script: [pays, down, 'Paid.'] });
      const response = await runSpec(mode, ask());
      const { id } = pausedOf(response);

      const error = await failureOf(runSpec(mode, client.resume(id, decideAll(response))));
      const [pending] = await client.pending('anna-7');
      const text = (await runSpec(mode, client.resume(id))).text;

      expect((error as ModelCallError).paused?.id).to.equal(id);
      expect([pending?.id, pending?.requests]).to.deep.equal([id, []]);
      expect(shortTexts(pending?.messages ?? [])).to.deep.equal(['Pay.', '>c1>c2', '<c1', '<c2']);
      expect([text, ran]).to.deep.equal(['Paid.', ['pay']]);
    });

  for (const mode of MODES)
    it(`that are cancelled when they are resumed wait again (${mode})`, async () => {
      const abort = new AbortController();
      const stop = defineTool({ name: 'stop', effect: 'read', execute: () => abort.abort() });
      const script = [pays, { toolCalls: [{ id: 'c3', name: 'stop' }] }, 'Paid.', 'Paid.'];
      const { store, client, ran, ask } = setUp({ script, tools: [stop] });
      const response = await runSpec(mode, ask());
      const { id } = pausedOf(response);

      const resumed = client.resume(id, decideAll(response));
      const error = await failureOf(runSpec(mode, resumed.signal(abort.signal)));
      await untilAtRest(store, pausedOf(response).state);
      const [pending] = await client.pending('anna-7');
      const end = await runSpec(mode, resumed);

      expect(error).to.have.property('code', 'cancelled');
      expect([pending?.id, pending?.requests]).to.deep.equal([id, []]);
      expect([end.text, ran]).to.deep.equal(['Paid.', ['pay']]);
    });

  it('have the requests of agents, and no other turn for them', async () => {
    let paid = 0;
    const pay = defineTool({ name: 'pay', effect: 'write', execute: () => `paid ${++paid}` });
    const inner = ChatClient.builder(new ScriptedChatModel([pays, 'Agent paid.']))
      .defaultTools(pay, defineTool({ name: 'look', effect: 'read', execute: () => 'seen' }))
      .defaultAdvisors(new ApprovalAdvisor({ decide: 'elsewhere' }))
      .build();
    const agent = agentTool(inner, { name: 'agent', description: 'Pays.', effect: 'read' });
    const call = { id: 'a', name: 'agent', arguments: { message: 'Pay.' } };
    const { client, ask } = setUp({ script: [{ toolCalls: [call] }, 'Done.'], tools: [agent] });
    await ask().call().chatResponse();

    const pending = await client.pending('anna-7');
    const [request] = pending[0]?.requests ?? [];
    const decisions = { [request?.id ?? '']: { type: 'allow' } as const };
    const text = await client
      .resume(pending[0]?.id ?? '', decisions)
      .call()
      .content();

    expect([pending.length, request?.agents]).to.deep.equal([1, ['agent']]);
    expect([text, paid]).to.deep.equal(['Done.', 1]);
  });

  it('are none in a durable engine, which waits itself', async () => {
    const { client, ask } = setUp();
    const engine = new InMemoryDurableEngine();
    const spec = ask().advisors(new DurableAdvisor({ engine }));
    const found: unknown[] = [];
    let text = '';

    await spec
      .stream()
      .events()
      .forEach((event) => {
        if (event.type === 'text-delta') text += event.text;
        if (event.type !== 'custom' || event.name !== 'tool-approval') return;
        const { state, request } = event.data as { state: string; request: { id: string } };
        if (state !== 'asked') return;
        void client.pending('anna-7').then((pending) => {
          found.push(pending);
          engine.send(request.id, { type: 'allow' });
        });
      });

    expect([found, text]).to.deep.equal([[[]], 'Paid.']);
  });

  it('cannot be resumed by their id in a durable engine, and are not used up then', async () => {
    const { client, ask } = setUp();
    const response = await ask().call().chatResponse();
    const resumed = client.resume(pausedOf(response).id, decideAll(response));
    const durable = resumed.advisors(new DurableAdvisor({ engine: new InMemoryDurableEngine() }));

    expect(await failureOf(durable.call().content())).to.be.instanceOf(InvalidArgumentError);
    expect(await resumed.call().content()).to.equal('Paid.');
  });
});

describe('the id of a paused turn', () => {
  it('is refused in any other form than it was given, and nothing runs', async () => {
    const { client, ran, ask } = setUp();
    const response = await ask().call().chatResponse();
    const { id, state } = pausedOf(response);
    const resume = (text: string) => reasonOf(client.resume(text, decideAll(response)).call().content()); // prettier-ignore

    for (const text of [
      id.slice(1),
      `${id} `,
      id.toUpperCase(),
      `${id} lease`,
      `${id} state`,
      `paused-turn ${id}`,
      `${id}\n`,
      `../${id}`,
      state.slice(0, 32),
    ])
      // prettier-ignore
      expect(await resume(text), text).to.equal('invalid');
    expect(await resume('0'.repeat(32))).to.equal('unknown');
    expect(() => client.resume('')).to.throw(InvalidArgumentError);
    expect(ran).to.deep.equal([]);
    expect(await resume(id)).to.equal('resumed');
  });

  it('resumes its turn in its conversation alone, where the application gives one', async () => {
    const { client, ran, ask } = setUp();
    const response = await ask().call().chatResponse();
    const resumed = client.resume(pausedOf(response).id, decideAll(response));

    expect(await reasonOf(within(resumed, 'ben-8').call().content())).to.equal('conversation');
    expect(ran).to.deep.equal([]);
    expect(await reasonOf(within(resumed, 'anna-7').call().content())).to.equal('resumed');
  });

  it('counts for the owner of the turn, also in a conversation of the same id', async () => {
    const options: ApprovalAdvisorOptions = { scope: ({ context }) => context.values['user'] as string }; // prettier-ignore
    const { client, ran, ask } = setUp({ options, script: () => pays });
    const anna = { user: 'anna' };
    const response = await ask().toolContext(anna).call().chatResponse();
    const { id } = pausedOf(response);

    const lists = [client, client.prompt().toolContext({ user: 'ben' }), client.prompt().toolContext(anna)]; // prettier-ignore
    const found = await Promise.all(
      lists.map(async (each) => (await each.pending('anna-7')).length),
    );
    const resumed = client.resume(id, decideAll(response)).toolContext({ user: 'ben' });

    expect(found).to.deep.equal([0, 0, 1]);
    expect(await reasonOf(resumed.call().content())).to.equal('owner');
    expect(ran).to.deep.equal([]);
  });

  it('finds its turn, in any conversation or the one of the request', async () => {
    const { client, ask } = setUp({ script: () => pays });
    const { id, requests } = pausedOf(await ask().turnId('turn-1').call().chatResponse());
    const free = pausedOf(await client.prompt('Pay.').call().chatResponse());
    await ask().call().chatResponse();

    const [found, ...more] = await client.pending({ id });

    expect(found).to.include({ id, turnId: 'turn-1' });
    expect(found?.requests).to.deep.equal(requests);
    expect([found, more]).to.deep.equal([(await client.pending('anna-7'))[0], []]);
    expect((await client.pending(free)).map((turn) => turn.id)).to.deep.equal([free.id]);
    expect(await within(client.prompt(), 'anna-7').pending({ id })).to.deep.equal([found]);
    expect(await within(client.prompt(), 'ben-8').pending({ id })).to.deep.equal([]);
  });

  it('finds no turn of another owner or client, that has ended, or whose id has another form', async () => {
    const options: ApprovalAdvisorOptions = { scope: ({ context }) => context.values['user'] as string }; // prettier-ignore
    const { store, client, ask } = setUp({ options });
    const anna = { user: 'anna' };
    const response = await ask().toolContext(anna).call().chatResponse();
    const { id, state } = pausedOf(response);
    const spec = client.prompt().toolContext(anna);
    const refunds = setUp({ store, options: { ...options, name: 'refunds' } }).client;
    const others = [client, client.prompt().toolContext({ user: 'ben' }), refunds.prompt().toolContext(anna)]; // prettier-ignore

    for (const other of others) expect(await other.pending({ id })).to.deep.equal([]);
    for (const text of [state, `${id} state`, id.toUpperCase(), '0'.repeat(32)])
      expect(await spec.pending({ id: text })).to.deep.equal([]);
    expect(await failureOf(spec.pending({ id: ' ' }))).to.be.instanceOf(InvalidArgumentError);
    expect(await failureOf(spec.pending({} as never))).to.be.instanceOf(InvalidArgumentError);
    expect(await spec.pending({ id })).to.have.length(1);
    const { run } = await spec.resume(id, decideAll(response)).call().chatClientResponse();
    await run?.settled;
    expect(await spec.pending({ id })).to.deep.equal([]);
  });

  it('counts for its client alone', async () => {
    const { store, ask } = setUp();
    const response = await ask().call().chatResponse();
    const other = setUp({ store, options: { name: 'refunds' } });

    const resumed = other.client.resume(pausedOf(response).id, decideAll(response));

    expect(await other.client.pending('anna-7')).to.deep.equal([]);
    expect(await reasonOf(resumed.call().content())).to.equal('client');
  });

  it('expires as its state does', async () => {
    const { client, ran, ask } = setUp({ pause: { ttl: 20 } });
    const response = await ask().call().chatResponse();
    await new Promise((resolve) => setTimeout(resolve, 30));

    const resumed = client.resume(pausedOf(response).id, decideAll(response));

    expect(await client.pending('anna-7')).to.deep.equal([]);
    expect(await reasonOf(resumed.call().content())).to.equal('expired');
    expect(ran).to.deep.equal([]);
  });

  it('leads to no state that was changed in the store, of another secret, or of another turn', async () => {
    const { store, client, ran, ask } = setUp({ script: () => pays });
    const [one, two] = [
      await ask().call().chatResponse(),
      await ask('ben-8').call().chatResponse(),
    ];
    const ids = [one, two].map((each) => pausedOf(each).id) as [string, string];
    const keyOf = (id: string): string => `paused-turn ${id} state`;
    const [own, foreign] = (await Promise.all(ids.map((id) => store.get(keyOf(id))))) as [string, string]; // prettier-ignore
    const otherSecret = setUp({ store, pause: { secrets: 'another secret of 32 characters, at least' } }); // prettier-ignore
    const resume = (of = client) => reasonOf(of.resume(ids[0], decideAll(one)).call().content());
    const changed = `${own.slice(0, -2)}${own.endsWith('AA') ? 'BB' : 'AA'}`;

    for (const text of [foreign, changed]) {
      await store.set(keyOf(ids[0]), text);
      expect(await resume()).to.equal('signature');
      expect(await client.pending('anna-7')).to.deep.equal([]);
    }
    await store.set(keyOf(ids[0]), own);
    expect(await resume(otherSecret.client)).to.equal('signature');
    expect(await otherSecret.client.pending('anna-7')).to.deep.equal([]);
    expect(ran).to.deep.equal([]);
    expect((await client.pending('anna-7')).map(({ id }) => id)).to.deep.equal([ids[0]]);
  });

  it('leads to no turn of another conversation that was put into its list', async () => {
    const entries = new Map<string, string>();
    const inner = new InMemoryKeyValueStore();
    const store: KeyValueStore = {
      get: (key) => inner.get(key),
      add: (...args) => inner.add(...args),
      delete: (...args) => inner.delete(...args),
      set: (key, value, options) => (entries.set(key, value), inner.set(key, value, options)),
    };
    const { client, ask } = setUp({ store, script: () => pays });
    await ask('anna-7').call().chatResponse();
    const [list = ''] = [...entries.keys()].filter((key) => key.startsWith('paused-turns '));
    const { id } = pausedOf(await ask('ben-8').call().chatResponse());

    await inner.set(list, JSON.stringify([[id, Date.now() + 60_000]]));

    expect(await client.pending('anna-7')).to.deep.equal([]);
  });

  it('is missing if the store cannot keep the turn, which is resumed by its state', async () => {
    const errors: unknown[] = [];
    const inner = new InMemoryKeyValueStore();
    let isDown = true;
    const failure = new Error('down');
    const store: KeyValueStore = {
      get: (key) => inner.get(key),
      add: (...args) => inner.add(...args),
      delete: (...args) => inner.delete(...args),
      set: (...args) => (isDown ? Promise.reject(failure) : inner.set(...args)),
    };
    const pause = { onStoreError: (error: unknown) => void errors.push(error) };
    const { client, ask } = setUp({ store, pause });

    const response = await ask().call().chatResponse();
    isDown = false;
    const text = await client
      .resume(pausedOf(response).state, decideAll(response))
      .call()
      .content();

    expect([response.paused && 'id' in response.paused, errors]).to.deep.equal([false, [failure]]);
    expect(text).to.equal('Paid.');
  });

  it('is given at the next pause to a turn whose state has none, as of an earlier package', async () => {
    const twice = { toolCalls: [{ id: 'c1', name: 'pay' }, { id: 'c2', name: 'pay' }] }; // prettier-ignore
    const { client, ask } = setUp({ script: [twice, 'Paid.'] });
    const first = pausedOf(await ask().call().chatResponse());
    const { keptAs: _id, pausedAt: _at, ...fields } = JSON.parse(await openState(first.state)) as Record<string, unknown>; // prettier-ignore
    const old = await new StateSeal([SECRET]).seal(JSON.stringify({ ...fields, id: 'old' }));
    const [one, two] = first.requests.map((request) => request.id) as [string, string];
    const allow = { type: 'allow' } as const;

    const second = pausedOf(
      await client
        .resume(old, { [one]: allow })
        .call()
        .chatResponse(),
    );
    const text = await client
      .resume(second.id, { [one]: allow, [two]: allow })
      .call()
      .content();

    expect(second.id).not.to.equal(first.id);
    expect(text).to.equal('Paid.');
  });

  it('resumes a turn that is as large as maxSize allows', async () => {
    const big = defineTool({ name: 'look_up', effect: 'read', execute: () => 'x'.repeat(1_000) });
    const script = [{ toolCalls: [{ id: 'c1', name: 'look_up' }, { id: 'c2', name: 'pay' }] }, 'Paid.']; // prettier-ignore
    const size = setUp({ script, tools: [big] });
    const { length } = pausedOf(await size.ask().call().chatResponse()).state;
    const { client, ask } = setUp({ script, tools: [big], pause: { maxSize: length + 100 } });
    const response = await ask().call().chatResponse();

    const resumed = client.resume(pausedOf(response).id, decideAll(response));

    expect(await resumed.call().content()).to.equal('Paid.');
  });

  it('needs a client that pauses turns', async () => {
    const client = ChatClient.create(new ScriptedChatModel([]));

    const error = await failureOf(client.pending('anna-7'));

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect(String(error)).to.match(/pending\(…\): no advisor of the client pauses turns/);
    expect(await failureOf(setUp().client.pending(' '))).to.be.instanceOf(InvalidArgumentError);
  });
});
