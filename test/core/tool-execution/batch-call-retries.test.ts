import { mock } from 'node:test';
import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  ToolCallingAdvisor,
  ToolCallingManager,
  ToolError,
  type Tool,
  type ToolContext,
  type ToolMetadata,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { deferred, settled } from '../../support/promises.js';
import { runBatch } from '../../support/batch.js';

/** A tool that fails some times before it works. */
const flaky = (
  failures: number,
  metadata: ToolMetadata,
  error: unknown = new Error('down'),
): { readonly tool: Tool; runs: () => number } => {
  let runs = 0;
  const tool = defineTool({
    name: 'flaky',
    execute: () => {
      if (++runs <= failures) throw error;
      return 'up';
    },
  });
  return { tool: { ...tool, metadata: { ...tool.metadata, ...metadata } }, runs: () => runs };
};

/** Runs in virtual time, which the test resets; returns the result and the elapsed milliseconds. */
async function inVirtualTime<T>(
  start: () => Promise<T>,
): Promise<{ readonly value: T; readonly time: number }> {
  mock.timers.enable({ apis: ['setTimeout'] });
  let ended = false;
  let time = 0;
  const running = start().finally(() => (ended = true));
  for (await settled(); !ended; await settled()) {
    time += 50;
    mock.timers.tick(50);
  }
  return { value: await running, time };
}

describe('retries', () => {
  afterEach(() => mock.timers.reset());

  const run = async (tool: Tool): Promise<{ readonly content: unknown; readonly time: number }> => {
    const { value, time } = await inVirtualTime(() => runBatch([tool], ['flaky']));
    return { content: value.contents[0], time };
  };

  for (const effect of ['read', 'idempotent'] as const) {
    it(`[F35] repeat a failed call of an ${effect} tool`, async () => {
      const { tool, runs } = flaky(2, { effect, retries: 2 });

      expect((await run(tool)).content).to.equal('up');
      expect(runs()).to.equal(3);
    });
  }

  it('[F35] end with the last failure', async () => {
    const { tool, runs } = flaky(5, { effect: 'read', retries: 2 });

    expect((await run(tool)).content).to.equal('The tool "flaky" failed. Error id: call_1');
    expect(runs()).to.equal(3);
  });

  for (const metadata of [
    { retries: 3 },
    { retries: 3, effect: 'write' },
    { effect: 'read' },
  ] as const) {
    it(`[F35] do not happen for ${JSON.stringify(metadata)}, even if the tool is hand-written`, async () => {
      const { tool, runs } = flaky(1, metadata);

      expect((await run(tool)).content).to.equal('The tool "flaky" failed. Error id: call_1');
      expect(runs()).to.equal(1);
    });
  }

  it('do not happen after a ToolError', async () => {
    const { tool, runs } = flaky(1, { effect: 'read', retries: 3 }, new ToolError('no such city'));

    expect((await run(tool)).content).to.equal('no such city');
    expect(runs()).to.equal(1);
  });

  it('[D51] do not happen after too much progress', async () => {
    let runs = 0;
    const tool = defineTool({
      name: 'chatty',
      effect: 'read',
      retries: 3,
      execute: function* () {
        runs++;
        yield* [1, 2, 3, 4];
      },
    });

    const { contents } = await runBatch([tool], ['chatty'], { maxProgress: 2 });

    expect(contents[0]).to.include('more than 2 progress values');
    expect(runs).to.equal(1);
  });

  it('wait 200 ms, then twice as long, but never more than 5 s', async () => {
    const { tool } = flaky(7, { effect: 'read', retries: 7 });

    expect((await run(tool)).time).to.equal(200 + 400 + 800 + 1_600 + 3_200 + 5_000 + 5_000);
  });

  it('have their own time limit and signal', async () => {
    const contexts: ToolContext[] = [];
    const tool = defineTool({
      name: 'flaky',
      effect: 'read',
      retries: 1,
      timeout: 50,
      execute: (_, context) => {
        contexts.push(context);
        return contexts.length === 1 ? new Promise(() => context.signal) : 'up';
      },
    });

    expect((await run(tool)).content).to.equal('up');
    expect(contexts.map(({ signal }) => signal.aborted)).to.deep.equal([true, false]);
    expect(contexts[0]?.idempotencyKey).to.equal(contexts[1]?.idempotencyKey);
  });

  it('end the events of the attempt before', async () => {
    const contexts: ToolContext[] = [];
    const tool = defineTool({
      name: 'flaky',
      effect: 'read',
      retries: 1,
      execute: (_, context) => {
        contexts.push(context);
        const event = { type: 'custom', name: 'attempt', data: contexts.length } as never;
        for (const { emit } of contexts) emit(event);
        if (contexts.length === 1) throw new Error('down');
        return 'up';
      },
    });
    const { events } = await runBatch([tool], ['flaky']);

    expect(contexts).to.have.length(2);
    expect(events.flatMap((event) => (event.type === 'custom' ? [event.data] : []))).to.deep.equal([
      1, 2,
    ]);
  });

  it('continue to emit progress', async () => {
    const contexts: ToolContext[] = [];
    const tool = defineTool({
      name: 'flaky',
      effect: 'read',
      retries: 1,
      execute: (_, context) => {
        contexts.push(context);
        context.progress(contexts.length);
        if (contexts.length === 1) throw new Error('down');
        return 'up';
      },
    });
    const { events } = await runBatch([tool], ['flaky']);

    expect(
      events.flatMap((event) => (event.type === 'tool-progress' ? [event.data] : [])),
    ).to.deep.equal([1, 2]);
  });

  it('[F30] end when the run is cancelled, also during a delay', async () => {
    const failed = deferred();
    let runs = 0;
    const tool = defineTool({
      name: 'flaky',
      effect: 'read',
      retries: 5,
      execute: () => {
        runs++;
        failed.resolve();
        throw new Error('down');
      },
    });
    const abort = new AbortController();
    const running = runBatch([tool], ['flaky'], { run: { tools: [tool], signal: abort.signal } });
    await failed.promise;
    await settled();
    abort.abort();
    const { contents } = await running;

    expect(contents).to.deep.equal(['Not run to its end: the turn was cancelled.']);
    expect(runs).to.equal(1);
  });
});

describe('[F36] an abandoned call', () => {
  it('is counted once when its tool ends, and changes nothing', async () => {
    const results = [deferred<string>(), deferred<string>(), deferred<string>()] as const;
    let at = 0;
    const tool = defineTool({ name: 'slow', timeout: 10, execute: () => results[at++]?.promise });
    const manager = new ToolCallingManager();
    const model = new ScriptedChatModel([
      { toolCalls: [0, 1, 2].map(() => ({ name: 'slow', arguments: {} })) },
      'Done.',
      'Again.',
    ]);
    const client = ChatClient.builder(model)
      .defaultTools(tool)
      .defaultAdvisors(new ToolCallingAdvisor({ manager }))
      .build();
    await client.prompt('Go.').call().content();
    results[0].resolve('afterwards');
    results[1].reject(new Error('afterwards'));
    await settled();

    expect(manager.abandonedCalls).to.equal(2);
    await client.prompt('More.').call().content();
    expect(JSON.stringify(model.prompts[2]?.messages)).not.to.include('afterwards');
  });

  it('does not count tools that end in time', async () => {
    const manager = new ToolCallingManager();
    const model = new ScriptedChatModel([
      { toolCalls: [{ name: 'quick', arguments: {} }] },
      'Done.',
    ]);
    const quick = defineTool({ name: 'quick', timeout: 5_000, execute: async () => 'ok' });
    await ChatClient.create(model)
      .prompt('Go.')
      .tools(quick)
      .advisors(new ToolCallingAdvisor({ manager }))
      .call()
      .content();

    expect(manager.abandonedCalls).to.equal(0);
  });
});

describe('[F35] a ledger that deduplicates by idempotency key', () => {
  const STEPS = 6;
  afterEach(() => mock.timers.reset());

  for (const [mode, run] of RUNS) {
    for (const when of ['before', 'after'] as const) {
      for (let step = 0; step < STEPS; step++) {
        it(`has one entry per call when step ${step + 1} fails once ${when} the effect (${mode})`, async () => {
          const ledger = new Map<string, string>();
          let failures = 1;
          const pay = defineTool({
            name: 'pay',
            input: { type: 'object', properties: { step: { type: 'integer' } } },
            effect: 'idempotent',
            retries: 1,
            execute: ({ step: now }, { idempotencyKey, call }) => {
              const fail = (): void => {
                if (now === step && failures-- > 0) throw new Error('connection lost');
              };
              if (when === 'before') fail();
              ledger.set(idempotencyKey, call.id);
              if (when === 'after') fail();
              return `step ${String(now)} is paid`;
            },
          });
          const model = new ScriptedChatModel((_, index) =>
            index < STEPS
              ? { toolCalls: [{ name: 'pay', arguments: { step: index } }] }
              : 'All is paid.',
          );

          const spec = ChatClient.create(model).prompt('Pay.').tools(pay);

          expect((await inVirtualTime(() => run(spec))).value).to.equal('All is paid.');
          expect(ledger.size).to.equal(STEPS);
          expect(failures).to.be.below(1);
        });
      }
    }
  }
});
