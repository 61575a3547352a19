import { expect } from 'chai';
import { z } from 'zod';
import { ToolDefinitionError, ToolExecutionError } from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import type { Tool, ToolMetadata } from '../../../src/core/tool/tool.js';
import { deferred, settled } from '../../support/promises.js';
import { rejection, runBatch } from '../../support/batch.js';
import fc from 'fast-check';
import { sweep } from '../../support/sweep.js';

type Args = Readonly<Record<string, unknown>>;

/** A tool by hand, so that nothing but its metadata decides how it runs. */
function tool(name: string, metadata: ToolMetadata, call: (args: Args) => unknown): Tool {
  return {
    definition: { name, description: '', inputSchema: { type: 'object' } },
    metadata,
    call: (args) => call(args as Args),
  };
}

const keyed = (args: unknown): string | undefined => (args as { readonly key?: string }).key;

/** Runs calls step by step, and gives which of them ran together in each step. */
async function steps(
  metadata: Readonly<Record<string, ToolMetadata>>,
  calls: readonly string[],
  concurrency = 8,
): Promise<string[]> {
  const running = new Map<string, () => void>();
  const tools = Object.entries(metadata).map(([name, own]) =>
    tool(name, own, async ({ id }) => {
      const gate = deferred();
      running.set(id as string, gate.resolve);
      await gate.promise;
      running.delete(id as string);
    }),
  );
  const inputs = calls.map((call, at) => {
    const [name = '', key] = call.split(':');
    return { name, args: { id: `${call}#${at}`, ...(key && { key }) } };
  });
  let over = false;
  const batch = runBatch(tools, inputs, { concurrency }).finally(() => (over = true));
  const seen: string[] = [];
  for (await settled(); !over; await settled()) {
    seen.push([...running.keys()].map((id) => id.split('#')[0]).join(' '));
    for (const end of running.values()) end();
    await settled();
  }
  expect((await batch).contents).to.have.length(calls.length);
  return seen;
}

const TOOLS: Readonly<Record<string, ToolMetadata>> = {
  plain: {},
  keyed: { concurrencyKey: keyed },
  read: { effect: 'read', concurrencyKey: keyed },
  look: { effect: 'read' },
  set: { effect: 'idempotent' },
  put: { effect: 'idempotent', concurrencyKey: keyed },
  pay: { effect: 'write' },
  send: { effect: 'write' },
  write: { effect: 'write', concurrencyKey: keyed },
  one: { maxConcurrency: 1 },
  two: { maxConcurrency: 2 },
};

describe('[F37] the calls of a batch', () => {
  const traces: Readonly<
    Record<string, readonly [calls: string, rounds: readonly string[], concurrency?: number]>
  > = {
    'that declare nothing run together': ['plain plain plain', ['plain plain plain']],
    'that read or are idempotent run together where they have no key': [
      'look set look set',
      ['look set look set'],
    ],
    'that write run one after another, each tool by itself': [
      'pay send pay send',
      ['pay send', 'pay send'],
    ],
    'that write with keys run beside those with other keys': [
      'write:a write:b write:a',
      ['write:a write:b', 'write:a'],
    ],
    'that write without a key where there is a function for it run together': [
      'write write',
      ['write write'],
    ],
    'that declare no effect but have a key are writers': [
      'keyed:a keyed:a read:a',
      ['keyed:a', 'keyed:a', 'read:a'],
    ],
    'that are idempotent are writers of their key': ['put:a put:a put:b', ['put:a put:b', 'put:a']],
    'of several tools wait for one key': [
      'read:a read:a write:a read:a keyed:a',
      ['read:a read:a', 'write:a', 'read:a', 'keyed:a'],
    ],
    'wait for a writer although they only read': [
      'write:a read:a read:a',
      ['write:a', 'read:a read:a'],
    ],
    'share the name of a tool that writes as a key': ['pay read:pay', ['pay', 'read:pay']],
    'of one tool run within its maximum': [
      'one one two two two plain',
      ['one two two plain', 'one two'],
    ],
    'that wait leave their place to others': ['pay pay plain plain', ['pay plain', 'pay plain'], 2],
    'that wait for places come in call order': [
      'plain pay plain pay plain',
      ['plain pay', 'plain pay', 'plain'],
      2,
    ],
  };
  for (const [what, [calls, rounds, concurrency]] of Object.entries(traces)) {
    it(what, async () => {
      expect(await steps(TOOLS, calls.split(' '), concurrency)).to.deep.equal(rounds);
    });
  }

  it('never overlap if they conflict, respect their limits, and all have a result (random batches)', async () => {
    const names = Object.keys(TOOLS);
    const call = fc.record({
      name: fc.constantFrom(...names),
      key: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    });
    const batches = fc.tuple(
      fc.array(call, { minLength: 1, maxLength: 20 }),
      fc.constantFrom(1, 3, 8),
      fc.array(fc.nat(4), { minLength: 20 }),
    );
    await fc.assert(
      fc.asyncProperty(batches, async ([calls, concurrency, delays]) => {
        const keyOf = ({ name, key }: (typeof calls)[number]): string | undefined =>
          TOOLS[name]?.concurrencyKey ? key : TOOLS[name]?.effect === 'write' ? name : undefined;
        const running = new Set<number>();
        const tools = names.map((name) =>
          tool(name, TOOLS[name] ?? {}, async ({ at }) => {
            const own = calls[at as number] as (typeof calls)[number];
            for (const other of running) {
              const sameKey =
                keyOf(own) !== undefined && keyOf(own) === keyOf(calls[other] as typeof own);
              const bothRead =
                TOOLS[name]?.effect === 'read' &&
                TOOLS[calls[other]?.name ?? '']?.effect === 'read';
              expect(sameKey && !bothRead, `${String(at)} beside ${other}`).to.equal(false);
            }
            running.add(at as number);
            expect(running.size).to.be.at.most(concurrency);
            const ofTool = [...running].filter((one) => calls[one]?.name === name);
            expect(ofTool.length).to.be.at.most(TOOLS[name]?.maxConcurrency ?? Infinity);
            for (let left = delays[at as number] ?? 0; left > 0; left--) await Promise.resolve();
            running.delete(at as number);
            return at;
          }),
        );
        const inputs = calls.map(({ name, key }, at) => ({
          name,
          args: { at, ...(key && { key }) },
        }));

        expect((await runBatch(tools, inputs, { concurrency })).contents).to.deep.equal(
          calls.map((_, at) => String(at)),
        );
      }),
      { numRuns: sweep(6_000) },
    );
  });

  it('run at most 16 at a time, or the maximum of their tool', async () => {
    for (const [metadata, expected] of [
      [{}, 16],
      [{ maxConcurrency: 3 }, 3],
      [{ effect: 'write' }, 1],
    ] as const) {
      let running = 0;
      let most = 0;
      const busy = tool('busy', metadata, async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
      });
      const calls = Array.from({ length: 1_000 }, () => 'busy');
      const { contents } = await runBatch([busy], calls, {
        maxCallsPerTool: Infinity,
        maxTotalCalls: Infinity,
      });

      expect([most, contents.length]).to.deep.equal([expected, 1_000]);
    }
  });

  it('are all checked before any runs', async () => {
    const log: string[] = [];
    const slow = z.object({ n: z.int() }).refine(async ({ n }) => {
      await settled();
      log.push(`checked ${n}`);
      return n !== 2;
    });
    const work = defineTool({
      name: 'work',
      input: slow,
      execute: ({ n }) => log.push(`ran ${n}`),
    });
    const { results } = await runBatch(
      [work],
      [1, 2, 3].map((n) => ({ name: 'work', args: { n } })),
    );

    // zod looks twice at what turns out to be asynchronous
    expect([...new Set(log)]).to.deep.equal([
      'checked 1',
      'checked 2',
      'checked 3',
      'ran 1',
      'ran 3',
    ]);
    expect(results.map(({ accepted }) => accepted)).to.deep.equal([true, false, true]);
  });

  it('are ordered by their checked arguments', async () => {
    const seen: unknown[] = [];
    const input = z.object({ account: z.string().transform((name) => name.toLowerCase()) });
    const pay = defineTool({ name: 'pay', input, execute: () => 'ok' });
    const concurrencyKey = (args: unknown): undefined => void seen.push(args);
    await runBatch(
      [{ ...pay, metadata: { concurrencyKey } }],
      [{ name: 'pay', args: { account: 'ANNA' } }],
    );

    expect(seen).to.deep.equal([{ account: 'anna' }]);
  });

  describe('with an invalid concurrency key', () => {
    const keys: Readonly<Record<string, () => unknown>> = {
      'its function throws': () => {
        throw new Error('canary-key');
      },
      'it is a number': () => 7,
      'it is null': () => null,
      'it is a promise that fails': () => Promise.reject(new Error('canary-key')),
      'it is an array': () => ['a'],
    };
    for (const [what, key] of Object.entries(keys)) {
      it(`[F26] [F34] fail alone, and do not run (${what})`, async () => {
        let runs = 0;
        const odd = tool('odd', { concurrencyKey: key as () => string }, () => ++runs);
        const { messages, results } = await runBatch(
          [odd, tool('ok', {}, () => 'fine')],
          ['ok', 'odd', 'ok'],
        );
        await settled();

        expect(messages.map(({ content, isError = false }) => [content, isError])).to.deep.equal([
          ['fine', false],
          ['The tool "odd" failed. Error id: call_2', true],
          ['fine', false],
        ]);
        expect([runs, results[1]?.accepted]).to.deep.equal([0, true]);
      });
    }

    it('report the invalid key to the application', async () => {
      const odd = tool('odd', { concurrencyKey: (() => 7) as unknown as () => string }, () => 1);
      const { results } = await runBatch([odd], ['odd']);

      expect(results[0]?.result.error)
        .to.be.instanceOf(ToolDefinitionError)
        .with.property(
          'message',
          'tool "odd": concurrencyKey must return a string or undefined, not 7',
        );
    });

    it('follow the error policy of the tool', async () => {
      const cause = new Error('canary-key');
      const concurrencyKey = (): never => {
        throw cause;
      };
      const error = await rejection(
        runBatch([tool('odd', { concurrencyKey, onToolError: 'throw' }, () => 1)], ['odd']),
      );

      expect(error).to.be.instanceOf(ToolExecutionError).with.property('cause', cause);
    });
  });

  it('[F30] do not run after a cancellation if they are waiting', async () => {
    const controller = new AbortController();
    const ran: unknown[] = [];
    const pay = tool(
      'pay',
      { effect: 'write' },
      ({ n }) => (ran.push(n), new Promise(() => undefined)),
    );
    const batch = runBatch(
      [pay],
      [1, 2, 3].map((n) => ({ name: 'pay', args: { n } })),
      { run: { signal: controller.signal } },
    );
    await settled();
    controller.abort();

    expect(new Set((await batch).contents)).to.deep.equal(
      new Set(['Not run to its end: the turn was cancelled.']),
    );
    expect(ran).to.deep.equal([1]);
  });
});
