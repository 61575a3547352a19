import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  ToolLedgerAdvisor,
  type ChatClientResponse,
  type KeyValueOptions,
  type KeyValueStore,
  type ToolContext,
  type ToolEffect,
  type ToolLedgerAdvisorOptions,
  type ToolLedgerEvent,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from './modes.js';

/** A store as one process sees it, which ends after some operations: later ones never settle. */
export class ProcessStore implements KeyValueStore {
  readonly leases = new Set<string>();
  operations: string[] = [];

  constructor(
    private readonly store: KeyValueStore,
    private readonly lifetime = Infinity,
  ) {}

  get(key: string): Promise<string | undefined> {
    return this.run('get', () => this.store.get(key));
  }

  set(key: string, value: string, options?: KeyValueOptions): Promise<boolean> {
    if (key.endsWith(' lease')) this.leases.add(key);
    return this.run('set', () => this.store.set(key, value, options));
  }

  delete(key: string, options?: KeyValueOptions): Promise<boolean> {
    return this.run('delete', () => this.store.delete(key, options));
  }

  add(...parts: Parameters<KeyValueStore['add']>): ReturnType<KeyValueStore['add']> {
    return this.run('add', () => this.store.add(...parts));
  }

  /** Ends the leases of an ended process, as the server does after their lifetime. */
  async expireLeases(): Promise<void> {
    await Promise.all([...this.leases].map((key) => this.store.delete(key)));
  }

  private run<T>(name: string, operation: () => Promise<T>): Promise<T> {
    if (this.operations.push(name) > this.lifetime) return new Promise<T>(() => undefined);
    return operation();
  }
}

export const turnIdOf = (): string => `order-${randomUUID()}`;

/** A turn of a tool `pay` in a process of its own: a new client, and other call ids. */
export interface LedgerTurn {
  readonly store: KeyValueStore;
  readonly turnId?: string;
  readonly mode?: Mode;
  readonly effect?: ToolEffect;
  readonly execute: (context: ToolContext, args: { readonly cents: number }) => unknown;
  readonly script?: Script;
  readonly options?: Partial<ToolLedgerAdvisorOptions>;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

export const pay = (cents = 5) => ({ name: 'pay', id: randomUUID(), arguments: { cents } });

export function ledgerTurn(turn: LedgerTurn): Promise<ChatClientResponse> {
  const { store, turnId, mode = 'call', effect = 'write', execute, options, signal } = turn;
  const script = turn.script ?? [{ toolCalls: [pay()] }, 'Done.'];
  const tool = defineTool({
    name: 'pay',
    effect,
    ...(turn.timeout !== undefined && { timeout: turn.timeout }),
    input: { type: 'object', properties: { cents: { type: 'integer' } } },
    execute: (args, context) => execute(context, args as { cents: number }),
  });
  const spec = ChatClient.create(new ScriptedChatModel(script))
    .prompt('Pay.')
    .tools(tool)
    .advisors(new ToolLedgerAdvisor({ store, ...options }));
  const withId = turnId === undefined ? spec : spec.turnId(turnId);
  return runSpec(mode, signal ? withId.signal(signal) : withId);
}

/** Contents of the results of a turn. */
export const contentsOf = ({ steps }: ChatClientResponse): readonly unknown[] =>
  steps.flatMap(({ toolCalls }) => toolCalls.map(({ result }) => result?.content));

/** The laws of the ledger, over any store. */
export function itRecordsCalls(open: () => KeyValueStore): void {
  /**
   * Runs the turn in a process that ends after some operations, then again in another one.
   * @returns the number of effects after each
   */
  async function effectsOfCrash(mode: Mode, effect: ToolEffect, lifetime: number, dies: boolean) {
    const store = open();
    const turnId = turnIdOf();
    const first = new ProcessStore(store, lifetime);
    const abandoned = new AbortController();
    let effects = 0;
    const reached = new Promise<void>((resolve) => {
      const execute = (): unknown => {
        if (dies) return new Promise(() => resolve());
        effects++;
        return 'Paid.';
      };
      void failureOf(
        ledgerTurn({ store: first, turnId, mode, effect, execute, signal: abandoned.signal }),
      );
      // the operation after the last one never settles: the process has ended
      const watch = setInterval(() => {
        if (first.operations.length > lifetime) resolve();
      }, 1);
      void Promise.resolve(watch);
      abandoned.signal.addEventListener('abort', () => clearInterval(watch));
    });
    await reached;
    const before = effects;
    await first.expireLeases();
    const execute = (): string => `Paid ${++effects}.`;
    const response = await ledgerTurn({ store, turnId, mode, effect, execute });
    abandoned.abort();
    return { before, after: effects, contents: contentsOf(response) };
  }

  for (const mode of MODES) {
    const refused = /^Not run: An earlier attempt of this call of "pay" was interrupted/;
    for (const [point, lifetime, dies, write, idempotent] of [
      ['before anything', 0, false, 1, 1],
      ['before the call is pending', 1, false, 1, 1],
      ['when it is pending, before the effect', 2, true, 0, 1],
      ['after the effect, before it is settled', 2, false, 1, 2],
      ['after it is settled', 3, false, 1, 1],
    ] as const) {
      it(`[F35] ${mode}: a write tool has its effect at most once if its process ends ${point} [vertz#2835]`, async () => {
        const { after, contents } = await effectsOfCrash(mode, 'write', lifetime, dies);

        expect(after).to.equal(write);
        if (lifetime === 2) expect(contents[0]).to.match(refused);
        else expect(contents[0]).to.match(/^Paid/);
      });

      it(`${mode}: an idempotent tool has its effect at least once if its process ends ${point}`, async () => {
        const { after, contents } = await effectsOfCrash(mode, 'idempotent', lifetime, dies);

        expect(after).to.equal(idempotent);
        expect(contents[0]).to.match(/^Paid/);
      });
    }

    it(`${mode}: a turn that runs again in another process, with other call ids, gets the recorded result [composio#3654, crewAI#5802]`, async () => {
      const store = open();
      const turnId = turnIdOf();
      let effects = 0;
      const execute = (): string => `Paid ${++effects}.`;

      const first = await ledgerTurn({ store, turnId, mode, execute });
      const second = await ledgerTurn({ store, turnId, mode, execute });
      const other = await ledgerTurn({ store, turnId: turnIdOf(), mode, execute });

      expect(effects).to.equal(2);
      expect(contentsOf(second)).to.deep.equal(contentsOf(first));
      expect(contentsOf(other)).to.deep.equal(['Paid 2.']);
    });
  }

  it('a client of the store that sends each write twice after a broken connection runs the call', async () => {
    const store = open();
    const twice: KeyValueStore = {
      get: (key) => store.get(key),
      delete: (key, options) => store.delete(key, options),
      add: (key, amounts, options) => store.add(key, amounts, options),
      set: async (key, value, options) => {
        await store.set(key, value, options);
        return store.set(key, value, options);
      },
    };
    let effects = 0;
    const turn = { store: twice, turnId: turnIdOf(), execute: () => `Paid ${++effects}.` };

    expect(await ledgerEvents(turn)).to.deep.equal([]);
    expect(contentsOf(await ledgerTurn(turn))).to.deep.equal(['Paid 1.']);
  });

  it('equal calls of one turn run each, and are replayed each', async () => {
    const store = open();
    const turnId = turnIdOf();
    let effects = 0;
    const execute = (): string => `Paid ${++effects}.`;
    const script = (): Script => [
      { toolCalls: [pay(), pay(7), pay()] },
      { toolCalls: [pay()] },
      'Done.',
    ];

    const first = await ledgerTurn({ store, turnId, execute, script: script() });
    const second = await ledgerTurn({ store, turnId, execute, script: script() });

    expect(effects).to.equal(4);
    expect(contentsOf(first)).to.deep.equal(['Paid 1.', 'Paid 2.', 'Paid 3.', 'Paid 4.']);
    expect(contentsOf(second)).to.deep.equal(contentsOf(first));
  });

  it('a call that another turn is running is waited for, and not made', async () => {
    const store = open();
    const turnId = turnIdOf();
    let effects = 0;
    let finish!: (value: string) => void;
    const running = new Promise<string>((resolve) => (finish = resolve));
    const started = new Promise<void>((resolve) => {
      const execute = (): Promise<string> => (effects++, resolve(), running);
      void ledgerTurn({ store, turnId, execute });
    });
    await started;
    const polling = new ProcessStore(store);
    const second = ledgerTurn({ store: polling, turnId, execute: () => `Paid ${++effects}.` });
    while (polling.operations.length < 2) await new Promise((resolve) => setImmediate(resolve));
    finish('Paid by the first.');

    expect(contentsOf(await second)).to.deep.equal(['Paid by the first.']);
    expect(effects).to.equal(1);
  });

  it('two processes that begin a turn at once have its effect once', async () => {
    const store = open();
    const turnId = turnIdOf();
    let effects = 0;
    const execute = (): string => `Paid ${++effects}.`;

    const turns = Array.from({ length: 8 }, () => ledgerTurn({ store, turnId, execute }));
    const contents = (await Promise.all(turns)).flatMap(contentsOf);

    expect(effects).to.equal(1);
    expect(new Set(contents)).to.deep.equal(new Set(['Paid 1.']));
  });
}

/** The events of the ledger in a turn. */
export async function ledgerEvents(turn: LedgerTurn): Promise<readonly ToolLedgerEvent[]> {
  const events: ToolLedgerEvent[] = [];
  const execute: LedgerTurn['execute'] = turn.execute;
  const tool = defineTool({
    name: 'pay',
    effect: turn.effect ?? 'write',
    input: { type: 'object' },
    execute: (args, context) => execute(context, args as { cents: number }),
  });
  const model = new ScriptedChatModel(turn.script ?? [{ toolCalls: [pay()] }, 'Done.']);
  const spec = ChatClient.create(model)
    .prompt('Pay.')
    .tools(tool)
    .turnId(turn.turnId ?? turnIdOf())
    .advisors(new ToolLedgerAdvisor({ store: turn.store, ...turn.options }));
  for await (const event of spec.stream().events())
    if (event.type === 'custom' && event.name === 'tool-ledger') events.push(event.data);
  return events;
}
