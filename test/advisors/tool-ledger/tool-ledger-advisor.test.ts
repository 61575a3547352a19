import { expect } from 'chai';
import {
  AdvisorContext,
  agentTool,
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  ContextKey,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  LimitExceededError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  Prompt,
  RetryAdvisor,
  toolCallingAutoRegister,
  ToolCallingManager,
  ToolError,
  toolResult,
  ToolLedgerAdvisor,
  ToolOutcomeUnknownError,
  type ToolLedgerAdvisorOptions,
  type ToolResult,
} from '../../../src/index.js';
import { decodeResult, encodeResult } from '../../../src/core/tool/result-codec.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred } from '../../support/promises.js';
import {
  contentsOf,
  itRecordsCalls,
  ledgerEvents,
  ledgerTurn,
  pay,
  ProcessStore,
  turnIdOf,
} from '../../support/tool-ledger-suite.js';

const store = (): InMemoryKeyValueStore => new InMemoryKeyValueStore();

describe('ToolLedgerAdvisor', () => {
  itRecordsCalls(store);

  for (const [options, message] of [
    [{}, 'store must be a KeyValueStore, not undefined'],
    [{ store: new Map(), key: 1 }, 'key must be a function, not 1'],
    [{ store: store(), onUnknown: 'ask' }, `onUnknown must be 'refuse' or 'run', not "ask"`],
    [{ store: store(), reconcile: 'run' }, 'reconcile must be a function, not "run"'],
    [{ store: store(), lease: 0 }, 'lease must be a number of milliseconds > 0'],
    [{ store: store(), ttl: 0 }, 'ttl must be a number > 0, not 0'],
  ] as const)
    it(`rejects ${message}`, () => {
      expect(() => new ToolLedgerAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `ToolLedgerAdvisor: ${message}`,
      );
    });

  for (const effect of ['read', undefined] as const)
    it(`does not touch calls with the effect ${effect}`, async () => {
      const process = new ProcessStore(store());
      let runs = 0;
      const tool = defineTool({ name: 'pay', effect, execute: () => `${++runs}` });
      for (let turn = 0; turn < 2; turn++)
        await ChatClient.create(new ScriptedChatModel([{ toolCalls: [pay()] }, 'Done.']))
          .prompt('?')
          .tools(tool)
          .turnId('t')
          .advisors(new ToolLedgerAdvisor({ store: process }))
          .call()
          .content();

      expect([runs, process.operations]).to.deep.equal([2, []]);
    });

  for (const mode of MODES) {
    it(`${mode}: a turn that an advisor repeats makes its payment once, though the model gives it another id [agent-framework#7458]`, async () => {
      let effects = 0;
      const tool = defineTool({ name: 'pay', effect: 'write', execute: () => `${++effects}` });
      const model = new ScriptedChatModel([
        { toolCalls: [{ id: 'a', name: 'pay' }] },
        '',
        { toolCalls: [{ id: 'b', name: 'pay' }] },
        'Paid.',
      ]);
      const again = new RetryAdvisor({
        order: AdvisorOrder.GUARD,
        firstDelay: 0,
        when: (_, response) => response?.text === '',
      });
      const spec = ChatClient.create(model).prompt('?').tools(tool);

      const response = await runSpec(
        mode,
        spec.advisors(again, new ToolLedgerAdvisor({ store: store() })),
      );

      expect([effects, response.text]).to.deep.equal([1, 'Paid.']);
    });

    it(`${mode}: a tool that reports an error may run again`, async () => {
      const shared = store();
      const turnId = turnIdOf();
      let runs = 0;
      const execute = (): unknown => {
        runs++;
        if (runs === 1) throw new ToolError('No money.');
        if (runs === 2) return toolResult({ content: 'No money.', isError: true });
        return 'Paid.';
      };
      const turn = { store: shared, turnId, mode, execute };

      const contents = [await ledgerTurn(turn), await ledgerTurn(turn), await ledgerTurn(turn)];

      expect(contents.flatMap(contentsOf)).to.deep.equal(['No money.', 'No money.', 'Paid.']);
      await ledgerTurn(turn);
      expect(runs).to.equal(3);
    });

    it(`${mode}: a payment that succeeded at the second attempt is not made again by the next run of the turn`, async () => {
      const turn = { store: store(), turnId: turnIdOf(), mode };
      let runs = 0;
      const execute = (): string => {
        if (++runs === 1) throw new ToolError('The bank is busy.');
        return `Paid in run ${runs}.`;
      };

      const script = [{ toolCalls: [pay()] }, { toolCalls: [pay()] }, 'Done.'];
      const first = await ledgerTurn({ ...turn, execute, script });
      const second = await ledgerTurn({ ...turn, execute });

      expect(contentsOf(first)).to.deep.equal(['The bank is busy.', 'Paid in run 2.']);
      expect(contentsOf(second)).to.deep.equal(['Paid in run 2.']);
      expect(runs).to.equal(2);
    });

    it(`${mode}: a repeated call is the one of two equal ones that was interrupted`, async () => {
      let runs = 0;
      const execute = (): string => {
        if (++runs === 1) throw new Error('socket hang up');
        return `Paid in run ${runs}.`;
      };
      const script = [{ toolCalls: [pay(), pay()] }, { toolCalls: [pay()] }, 'Done.'];
      const turn = { store: store(), turnId: turnIdOf(), mode, execute };

      const [, paid, repeated] = contentsOf(await ledgerTurn({ ...turn, script }));

      expect(paid).to.equal('Paid in run 2.');
      expect(repeated).to.match(/^Not run: An earlier attempt/);
    });

    it(`${mode}: a write tool that timed out does not run again, also if the model repeats the call`, async () => {
      const shared = store();
      const turnId = turnIdOf();
      const keys: string[] = [];
      let runs = 0;
      const turn = {
        store: shared,
        turnId,
        mode,
        timeout: 5,
        execute: (context: { idempotencyKey: string }) => {
          keys.push(context.idempotencyKey);
          return ++runs === 1 ? new Promise(() => undefined) : 'Paid.';
        },
        script: [{ toolCalls: [pay()] }, { toolCalls: [pay()] }, 'Done.'],
      };

      const first = await ledgerTurn(turn);
      const second = await ledgerTurn({ ...turn, script: [{ toolCalls: [pay()] }, 'Done.'] });

      const [timeout, ...repeated] = [...contentsOf(first), ...contentsOf(second)];
      expect(timeout).to.equal('The tool "pay" did not answer within 5 ms.');
      expect(repeated).to.have.length(2);
      for (const content of repeated) expect(content).to.match(/^Not run: An earlier attempt/);
      expect(runs).to.equal(1);
    });

    it(`${mode}: an idempotent tool that timed out runs again under its key`, async () => {
      const keys: string[] = [];
      const execute = ({ idempotencyKey }: { idempotencyKey: string }): unknown =>
        keys.push(idempotencyKey) === 1 ? new Promise(() => undefined) : 'Paid.';
      const script = [{ toolCalls: [pay()] }, { toolCalls: [pay()] }, 'Done.'];
      const turn = { store: store(), turnId: turnIdOf(), mode, timeout: 5, execute, script };

      const response = await ledgerTurn({ ...turn, effect: 'idempotent' });

      expect(contentsOf(response)[1]).to.equal('Paid.');
      expect(keys).to.have.length(2);
      expect(keys[0]).to.equal(keys[1]);
    });

    it(`${mode}: a write tool that was cancelled, or failed with an error of its own, does not run again`, async () => {
      for (const fails of [true, false]) {
        const shared = store();
        const turnId = turnIdOf();
        const controller = new AbortController();
        let runs = 0;
        const execute = (): unknown => {
          runs++;
          if (fails) throw new Error('socket hang up');
          controller.abort();
          return new Promise(() => undefined);
        };
        const turn = { store: shared, turnId, mode, execute };
        await failureOf(ledgerTurn({ ...turn, signal: controller.signal }));

        const second = await ledgerTurn(turn);

        expect(contentsOf(second)[0]).to.match(/^Not run: An earlier attempt/);
        expect(runs).to.equal(1);
      }
    });
  }

  /** A turn after one that was interrupted. */
  const afterCrash = async (options: Partial<ToolLedgerAdvisorOptions>) => {
    const shared = store();
    const turnId = turnIdOf();
    let runs = 0;
    const broken = (): never => {
      runs++;
      throw new Error('socket hang up');
    };
    await ledgerTurn({ store: shared, turnId, execute: broken });
    const execute = (): string => `Paid in run ${++runs}.`;
    const response = await ledgerTurn({ store: shared, turnId, execute, options });
    const again = await ledgerTurn({ store: shared, turnId, execute, options });
    return { contents: [...contentsOf(response), ...contentsOf(again)], response, runs };
  };

  it('refuses with an error that names the call', async () => {
    const { response } = await afterCrash({});
    const error = response.steps[0]?.toolCalls[0]?.result?.error;

    expect(error).to.be.instanceOf(ToolError);
    const { cause } = error as { cause: ToolOutcomeUnknownError };
    expect(cause).to.be.instanceOf(ToolOutcomeUnknownError);
    expect([cause.code, cause.toolName, cause.key.length]).to.deep.equal([
      'tool_outcome_unknown',
      'pay',
      64,
    ]);
  });

  it('runs an interrupted write again if it may', async () => {
    const { contents, runs } = await afterCrash({ onUnknown: 'run' });

    expect([contents, runs]).to.deep.equal([['Paid in run 2.', 'Paid in run 2.'], 2]);
  });

  it('asks again about an interrupted write after an attempt that reported an error', async () => {
    const turn = { store: store(), turnId: turnIdOf() };
    let asked = 0;
    const options = { reconcile: () => (asked++, 'not-run' as const) };
    await ledgerTurn({ ...turn, execute: () => Promise.reject(new Error('socket hang up')) });
    const busy = (): Promise<never> => Promise.reject(new ToolError('The bank is busy.'));
    await ledgerTurn({ ...turn, execute: busy, options });

    await ledgerTurn({ ...turn, execute: () => 'Paid.', options });

    expect(asked).to.equal(2);
  });

  it('takes the key of a function, for models that word the arguments in another way', async () => {
    const shared = store();
    let runs = 0;
    const turn = (cents: number) =>
      ledgerTurn({
        store: shared,
        execute: () => `Paid ${++runs}.`,
        script: [{ toolCalls: [pay(cents)] }, 'Done.'],
        options: { key: ({ context }) => (context.call.name === 'pay' ? 'invoice 7' : undefined) },
      });

    expect([...contentsOf(await turn(5)), ...contentsOf(await turn(6))]).to.deep.equal([
      'Paid 1.',
      'Paid 1.',
    ]);
  });

  for (const failing of ['set', 'get'] as const)
    it(`runs no tool if the store fails at ${failing}`, async () => {
      const shared = store();
      const turnId = turnIdOf();
      let runs = 0;
      const execute = (): string => `${++runs}`;
      if (failing === 'get') await ledgerTurn({ store: shared, turnId, execute });
      const down = new Error('the store is down');
      const broken = Object.assign(new ProcessStore(shared), {
        [failing]: () => Promise.reject(down),
      });

      const failure = await failureOf(ledgerTurn({ store: broken, turnId, execute }));

      expect(failure).to.equal(down);
      expect(runs).to.equal(failing === 'get' ? 1 : 0);
    });

  it('may run a call again whose store failed after it was made pending', async () => {
    const shared = store();
    const turnId = turnIdOf();
    const broken = Object.assign(new ProcessStore(shared), {
      set: async (...[key, value, options]: Parameters<InMemoryKeyValueStore['set']>) => {
        const done = await shared.set(key, value, options);
        if (value.startsWith('pending')) throw new Error('the connection broke');
        return done;
      },
    });
    const execute = (): string => 'Paid.';
    await failureOf(ledgerTurn({ store: broken, turnId, execute }));

    expect(contentsOf(await ledgerTurn({ store: shared, turnId, execute }))).to.deep.equal([
      'Paid.',
    ]);
  });

  it('returns the result of a call that could not be settled, reports it, and does not run it again', async () => {
    const shared = store();
    const turnId = turnIdOf();
    const down = new Error('the store is down');
    let runs = 0;
    const execute = (): string => `Paid ${++runs}.`;
    const process = new ProcessStore(shared);
    const broken = Object.assign(process, {
      set: (...[key, value, options]: Parameters<InMemoryKeyValueStore['set']>) =>
        value.startsWith('settled') ? Promise.reject(down) : shared.set(key, value, options),
    });

    const [event] = await ledgerEvents({ store: broken, turnId, execute });
    const again = await ledgerTurn({ store: shared, turnId, execute });

    expect(event).to.deep.include({ toolName: 'pay', outcome: 'unsettled', error: down });
    expect(contentsOf(again)[0]).to.match(/^Not run/);
    expect(runs).to.equal(1);
  });

  it('emits an event for a replayed and for a refused call', async () => {
    const shared = store();
    const [paid, broken] = [turnIdOf(), turnIdOf()];
    const failing = (): never => {
      throw new Error('broken');
    };
    const turns = [
      { store: shared, turnId: paid, execute: () => 'Paid.' },
      { store: shared, turnId: broken, execute: failing },
    ];
    for (const turn of turns) expect(await ledgerEvents(turn)).to.deep.equal([]);

    const outcomes = [];
    for (const turn of turns)
      for (const { outcome } of await ledgerEvents(turn)) outcomes.push(outcome);

    expect(outcomes).to.deep.equal(['replayed', 'unknown']);
  });

  it('does not leave a call pending that was cancelled before its tool began', async () => {
    const shared = store();
    const turnId = turnIdOf();
    const controller = new AbortController();
    let runs = 0;
    const execute = (): string => `Paid ${++runs}.`;
    const pending = Object.assign(new ProcessStore(shared), {
      set: async (...[key, value, options]: Parameters<InMemoryKeyValueStore['set']>) => {
        const done = await shared.set(key, value, options);
        if (value.startsWith('pending')) controller.abort();
        return done;
      },
    });
    await failureOf(ledgerTurn({ store: pending, turnId, execute, signal: controller.signal }));

    expect(contentsOf(await ledgerTurn({ store: shared, turnId, execute }))).to.deep.equal([
      'Paid 1.',
    ]);
  });

  it('records a result that could not be converted: its tool has run', async () => {
    let runs = 0;
    const tool = defineTool({
      name: 'pay',
      effect: 'write',
      output: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      execute: () => ({ wrong: ++runs }),
    });
    const shared = store();
    const turn = () =>
      ChatClient.create(new ScriptedChatModel([{ toolCalls: [pay()] }, 'Done.']))
        .prompt('?')
        .tools(tool)
        .turnId('t')
        .advisors(new ToolLedgerAdvisor({ store: shared }))
        .call()
        .chatClientResponse();

    expect(contentsOf(await turn())).to.deep.equal(contentsOf(await turn()));
    expect(runs).to.equal(1);
  });

  it('ends a tool beyond its limit of progress as interrupted', async () => {
    const error = new ToolError('Stopped.', {
      cause: new LimitExceededError('Too much', {
        limit: 'progress',
        value: 1,
        spent: 2,
        option: 'x',
      }),
    });
    const shared = store();
    const turn = { store: shared, turnId: 't', execute: () => Promise.reject(error) };
    await ledgerTurn(turn);

    expect(contentsOf(await ledgerTurn(turn))[0]).to.match(/^Not run/);
  });

  it('[F89] runs a paused batch once that is approved twice', async () => {
    let runs = 0;
    const gate = deferred();
    const tool = defineTool({
      name: 'pay',
      effect: 'write',
      execute: () => gate.promise.then(() => `Paid ${++runs}.`),
    });
    const spec = ChatClient.create(new ScriptedChatModel([{ toolCalls: [pay()] }]))
      .prompt('Pay.')
      .tools(tool)
      .advisors(new ToolLedgerAdvisor({ store: store() }), toolCallingAutoRegister(false));
    const response = await spec.call().chatClientResponse();
    const manager = new ToolCallingManager();
    const approve = () =>
      manager.executeToolCalls(new Prompt('Pay.'), response.chatResponse, response.tools());

    const approved = [approve(), approve()];
    gate.resolve();
    const contents = (await Promise.all(approved)).flatMap(({ messages }) =>
      messages.map(({ content }) => content),
    );

    expect([runs, contents]).to.deep.equal([1, ['Paid 1.', 'Paid 1.']]);
  });

  it('has effects once in a turn that runs again after it was stored, and stores it once', async () => {
    const shared = store();
    const chatMemory = new MessageWindowChatMemory({
      repository: new InMemoryChatMemoryRepository(),
    });
    let runs = 0;
    const tool = defineTool({ name: 'pay', effect: 'write', execute: () => `Paid ${++runs}.` });
    const turn = (turnId: string) =>
      ChatClient.create(new ScriptedChatModel([{ toolCalls: [pay()] }, 'Done.']))
        .prompt('Pay.')
        .tools(tool)
        .turnId(turnId)
        .advisors(
          new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }),
          new ToolLedgerAdvisor({ store: shared }),
          (advisors) => advisors.param(CONVERSATION_ID, 'anna'),
        )
        .call()
        .content();

    for (const turnId of ['message 1', 'message 2', 'message 2']) await turn(turnId);

    expect(runs).to.equal(2);
  });

  it('records calls of the turn of an agent under the call of the agent', async () => {
    const shared = store();
    let runs = 0;
    const tool = defineTool({ name: 'pay', effect: 'write', execute: () => `Paid ${++runs}.` });
    const turn = () => {
      const agent = ChatClient.builder(new ScriptedChatModel([{ toolCalls: [pay()] }, 'Done.']))
        .defaultTools(tool)
        .defaultAdvisors(new ToolLedgerAdvisor({ store: shared }))
        .build();
      const call = { name: 'cashier', arguments: { message: 'Pay.' } };
      return ChatClient.create(new ScriptedChatModel([{ toolCalls: [call] }, 'Done.']))
        .prompt('?')
        .tools(agentTool(agent, { name: 'cashier' }))
        .turnId('order-42')
        .call()
        .content();
    };

    await turn();
    await turn();

    expect(runs).to.equal(1);
  });
});

describe('encodeResult', () => {
  const KEY = new ContextKey<number>('test.key', 0);

  it('restores content, media, value, unlocked tools and context', () => {
    const result: ToolResult = {
      content: [
        { type: 'text', text: 'a\u0000b' },
        { type: 'image', data: new Uint8Array([0, 255, 7]), mediaType: 'image/png' },
      ],
      value: { id: 7, list: [null, 'x'] },
      unlocks: ['a'],
      locks: ['b'],
      context: AdvisorContext.empty.with(KEY, 7),
    };

    const { text, isWhole } = encodeResult(result);
    const { context, ...rest } = decodeResult(text);
    const { context: _, ...expected } = result;

    expect(rest).to.deep.equal(expected);
    expect([context?.get(KEY), isWhole]).to.deep.equal([7, true]);
    expect(decodeResult(encodeResult({ content: 'x', isError: true }).text)).to.deep.equal({
      content: 'x',
      isError: true,
    });
  });

  it('leaves out a value that JSON would change', () => {
    for (const value of [
      new Date(0),
      NaN,
      { at: new Map() },
      [undefined],
      () => 1,
      1n,
      Symbol('x'),
    ]) {
      const { text, isWhole } = encodeResult({ content: 'x', value });

      expect(isWhole).to.equal(false);
      expect(decodeResult(text)).to.deep.equal({ content: 'x' });
    }
  });
});
