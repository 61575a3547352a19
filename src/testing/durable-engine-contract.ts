import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DurableEngine } from '../engines/durable-engine.js';
import type { JsonValue } from '../core/internal/json.js';
import { describeLaws, type TestRunner } from './test-runner.js';

/** The code of a turn, which records its steps by an engine. */
export type TurnBody = (engine: DurableEngine) => Promise<JsonValue>;

/** A {@link DurableEngine} under test. */
export interface DurableEngineContract {
  /** Title of the tests. */
  readonly name: string;
  /**
   * Starts an execution of a turn, with the steps that earlier executions of it have recorded, and
   * resolves with the result of the body; rejects with its error.
   */
  readonly run: (turnId: string, body: TurnBody) => Promise<JsonValue>;
  /**
   * Ends the execution of a turn, whose body never ends by itself, as the end of its process does:
   * nothing that it does afterwards is recorded.
   */
  readonly interrupt: (turnId: string) => Promise<void> | void;
  /** Sends a value to a turn that waits for it, or will wait. */
  readonly send: (turnId: string, name: string, value: JsonValue) => Promise<void> | void;
}

/**
 * Tests an engine against the contract of {@link DurableEngine}.
 * @param runner functions of the test runner. @default the globals `describe` and `it`
 * @throws {@link InvalidArgumentError} without these functions
 */
export function itBehavesLikeADurableEngine(
  contract: DurableEngineContract,
  runner?: TestRunner,
): void {
  const title = `${contract.name} behaves like a durable engine`;
  describeLaws('itBehavesLikeADurableEngine', title, LAWS, runner, (law) =>
    law(new Turn(contract, `law-${randomUUID()}`)),
  );
}

/** A turn of a law. */
class Turn {
  constructor(
    private readonly contract: DurableEngineContract,
    private readonly id: string,
  ) {}

  run(body: TurnBody): Promise<JsonValue> {
    return this.contract.run(this.id, body);
  }

  /** Runs a body, and interrupts it when it has called `stop`, which never returns. */
  async runUntil(
    body: (engine: DurableEngine, stop: () => Promise<never>) => Promise<unknown>,
  ): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = (): Promise<never> => {
        resolve();
        return new Promise(() => undefined);
      };
      const never = async (engine: DurableEngine): Promise<JsonValue> => {
        await body(engine, stop).catch(reject);
        return stop();
      };
      // an interrupted execution may end in any way
      this.run(never).catch(() => undefined);
    });
    await this.contract.interrupt(this.id);
  }

  async send(name: string, value: JsonValue): Promise<void> {
    await this.contract.send(this.id, name, value);
  }
}

const VALUES: readonly JsonValue[] = [
  null,
  true,
  0.1,
  -1e21,
  '',
  'é 😀 \u2028 "quoted" \\ \u0000 \u0001 \ud800',
  [],
  {},
  [null, [1, 'two', { three: [] }]],
  { 'a b': { 'c.d': '', '0': false, constructor: 'x' } },
  'x'.repeat(200_000),
];

/** Longer than the clocks of two processes differ, and than a busy machine needs for a step. */
const LONG = 3_600_000;

const LAWS: Readonly<Record<string, (turn: Turn) => Promise<void>>> = {
  'runs a step once, also in a replayed turn': async (turn) => {
    let runs = 0;
    const count = async (): Promise<number> => ++runs;
    await turn.runUntil((engine) => engine.step('count', count));
    const value = await turn.run((engine) => engine.step('count', count));
    assert.deepEqual([value, runs], [1, 1]);
  },

  'returns JSON values unchanged': async (turn) => {
    const record = (engine: DurableEngine, other: boolean): Promise<JsonValue[]> =>
      Promise.all(
        VALUES.map((value, at) => engine.step(`value ${at}`, async () => (other ? null : value))),
      );
    await turn.runUntil(async (engine) => assert.deepEqual(await record(engine, false), VALUES));
    assert.deepEqual(await turn.run((engine) => record(engine, true)), VALUES);
  },

  'fails with the error of a step, the same object, and records nothing': async (turn) => {
    const error = new RangeError('no value');
    let failure: unknown;
    await turn.runUntil(async (engine) => {
      failure = await engine.step('fails', () => Promise.reject(error)).catch((e: unknown) => e);
    });
    assert.equal(failure, error);
    assert.equal(await turn.run((engine) => engine.step('fails', async () => 'second')), 'second');
  },

  'counts the attempts of a step from 1, if it counts them': async (turn) => {
    const value = await turn.run(async (engine) => {
      const attempts: (number | null)[] = [];
      const fails = (attempt?: number): Promise<never> => {
        attempts.push(attempt ?? null);
        return Promise.reject(new Error('no value'));
      };
      await engine.step('fails', fails).catch(() => undefined);
      await engine.step('fails', async (attempt) => attempts.push(attempt ?? null));
      return attempts;
    });
    const counted = value as readonly (number | null)[];
    if (counted.some((attempt) => attempt !== null)) assert.deepEqual(counted, [1, 2]);
  },

  'continues after a failed step': async (turn) => {
    const value = await turn.run(async (engine) => {
      const failed = engine.step('fails', () => Promise.reject(new Error('no value')));
      const first = await failed.catch(() => 'failed');
      return [first, await engine.step('next', async () => 'next')];
    });
    assert.deepEqual(value, ['failed', 'next']);
  },

  'runs a step again that was running when the execution ended': async (turn) => {
    await turn.runUntil(async (engine, stop) => {
      await engine.step('before', async () => 'before');
      await engine.step('running', stop);
    });
    const value = await turn.run(async (engine) => [
      await engine.step('before', async () => 'again'),
      await engine.step('running', async () => 'again'),
    ]);
    assert.deepEqual(value, ['before', 'again']);
  },

  'knows parallel steps by their names, in whatever order they begin': async (turn) => {
    const names = Array.from({ length: 12 }, (_, at) => `step ${at}`);
    const record = (engine: DurableEngine, order: readonly string[]): Promise<string[]> =>
      Promise.all(order.map((name) => engine.step(name, async () => `value of ${name}`)));
    await turn.runUntil((engine) => record(engine, names));
    const value = await turn.run(async (engine) => {
      const other = ['new', ...names.toReversed()];
      return record(engine, other);
    });
    assert.deepEqual(
      value,
      ['new', ...names.toReversed()].map((name) => `value of ${name}`),
    );
  },

  'keeps the results of parallel steps of which one was running': async (turn) => {
    const names = ['a', 'b', 'c'];
    await turn.runUntil(async (engine, stop) => {
      let started: (() => void) | undefined;
      const running = new Promise<void>((resolve) => (started = resolve));
      const slow = engine.step('slow', () => {
        started?.();
        return new Promise<string>(() => undefined);
      });
      await running;
      await Promise.all(names.map((name) => engine.step(name, async () => `first ${name}`)));
      await Promise.race([slow, stop()]);
    });
    const value = await turn.run((engine) =>
      Promise.all(['slow', ...names].map((name) => engine.step(name, async () => `again ${name}`))),
    );
    assert.deepEqual(value, ['again slow', 'first a', 'first b', 'first c']);
  },

  'is replaying while it has recorded steps': async (turn) => {
    await turn.runUntil(async (engine) => {
      assert.equal(engine.isReplaying, false);
      for (const name of ['a', 'b']) await engine.step(name, async () => name);
    });
    const value = await turn.run(async (engine) => {
      const before = engine.isReplaying;
      for (const name of ['a', 'b']) await engine.step(name, async () => name);
      return [before, engine.isReplaying];
    });
    assert.deepEqual(value, [true, false]);
  },

  'counts a sleep from the first time': async (turn) => {
    await turn.runUntil((engine) => engine.sleep('pause', 20));
    const start = performance.now();
    await turn.run((engine) => engine.sleep('pause', LONG).then(() => 'slept'));
    assert.ok(performance.now() - start < LONG / 2);
  },

  'waits for a value that is sent, and records it': async (turn) => {
    await turn.runUntil(async (engine) => {
      const waiting = engine.waitFor('decision');
      await turn.send('decision', { type: 'allow' });
      assert.deepEqual(await waiting, { type: 'allow' });
    });
    const value = await turn.run(async (engine) => (await engine.waitFor('decision')) ?? null);
    assert.deepEqual(value, { type: 'allow' });
  },

  'finds a value that was sent before it waits': async (turn) => {
    const value = await turn.run(async (engine) => {
      await turn.send('decision', ['first']);
      await engine.step('work', async () => null);
      return (await engine.waitFor('decision')) ?? null;
    });
    assert.deepEqual(value, ['first']);
  },

  'finds a value that was sent while no execution ran': async (turn) => {
    await turn.runUntil(async (engine, stop) => {
      await engine.step('work', async () => null);
      await Promise.race([engine.waitFor('decision'), stop()]);
    });
    await turn.send('decision', 'sent');
    assert.equal(
      await turn.run(async (engine) => (await engine.waitFor('decision')) ?? null),
      'sent',
    );
  },

  'waits for several values at once, each under its name': async (turn) => {
    const names = ['one', 'two', 'three'];
    const value = await turn.run(async (engine) => {
      const waiting = Promise.all(names.map(async (name) => (await engine.waitFor(name)) ?? null));
      for (const name of names.toReversed()) await turn.send(name, `for ${name}`);
      return waiting;
    });
    assert.deepEqual(
      value,
      names.map((name) => `for ${name}`),
    );
  },

  'ends a wait after its time, and records that too': async (turn) => {
    const wait = async (engine: DurableEngine): Promise<JsonValue> =>
      (await engine.waitFor('decision', { timeout: 20 })) ?? 'none';
    await turn.runUntil(async (engine) => assert.equal(await wait(engine), 'none'));
    assert.equal(await turn.run(wait), 'none');
  },
};
