import { expect } from 'chai';
import { Observable } from 'rxjs';
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  type Tool,
  type ToolContext,
} from '../../../src/index.js';
import type { ToolCallWrapper } from '../../../src/core/tool/tool.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { runBatch } from '../../support/batch.js';
import { settled } from '../../support/promises.js';

const ENDED = 'Not run to its end: the turn was cancelled.';

/** Runs a tool beside another one, in a run that is cancelled when the tool emits progress. */
async function cancelledByProgress(tool: Tool): Promise<readonly unknown[]> {
  const controller = new AbortController();
  const waits = defineTool({
    name: 'waits',
    execute: (_, { signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('aborted'))),
      ),
  });
  const onEvent = (event: { readonly type: string }): void => {
    if (event.type === 'tool-progress') controller.abort();
  };
  const { contents } = await runBatch([tool, waits], [tool.definition.name, 'waits'], {
    run: { signal: controller.signal, onEvent },
  });
  await settled();
  await settled();
  return contents;
}

describe('an interrupted generator or Observable', () => {
  it('[F30] stops an Observable when a listener of its first items cancels the run', async () => {
    let ended = false;
    const source = new Observable((subscriber) => {
      subscriber.next('first');
      subscriber.next('second');
      return () => void (ended = true);
    });

    expect(
      await cancelledByProgress(defineTool({ name: 'tool', execute: () => source })),
    ).to.deep.equal([ENDED, ENDED]);
    expect(ended).to.equal(true);
  });

  it('[F30] stops an async generator when a listener of its first progress cancels the run', async () => {
    let steps = 0;
    let ended = false;
    const execute = async function* (_: object, { progress }: ToolContext) {
      try {
        progress('begun');
        for (; steps < 20; steps++) yield await Promise.resolve(steps);
      } finally {
        ended = true;
      }
    };

    expect(await cancelledByProgress(defineTool({ name: 'tool', execute }))).to.deep.equal([
      ENDED,
      ENDED,
    ]);
    expect(ended).to.equal(true);
    expect(steps).to.be.at.most(1);
  });

  it('[F30] stops a generator when the run is cancelled inside its next()', async () => {
    let ended = false;
    const execute = function* (_: object, { progress }: ToolContext) {
      try {
        yield Promise.resolve(1);
        progress('now');
        yield 2;
        yield 3;
      } finally {
        ended = true;
      }
    };

    expect(await cancelledByProgress(defineTool({ name: 'tool', execute }))).to.deep.equal([
      ENDED,
      ENDED,
    ]);
    expect(ended).to.equal(true);
  });

  it('[F28] [F30] abandons an Observable whose teardown throws', async () => {
    const broken = new Observable((subscriber) => {
      subscriber.next(1);
      return () => {
        throw new Error('cannot clean up');
      };
    });
    const fine = defineTool({ name: 'fine', execute: () => 'fine' });
    const { contents } = await runBatch(
      [defineTool({ name: 'tool', timeout: 20, execute: () => broken }), fine],
      ['tool', 'fine'],
    );

    expect(contents).to.deep.equal(['The tool "tool" did not answer within 20 ms.', 'fine']);
  });

  it('runs the finally block of a generator when one of its items rejects', async () => {
    let ended = false;
    const execute = function* () {
      try {
        yield Promise.reject(new Error('no item'));
      } finally {
        ended = true;
      }
    };
    const { contents } = await runBatch([defineTool({ name: 'tool', execute })], ['tool']);

    expect(contents).to.deep.equal(['The tool "tool" failed. Error id: call_1']);
    expect(ended).to.equal(true);
  });

  for (const [what, hostile] of [
    [
      'a getter that throws',
      () => Object.defineProperty({}, 'type', { enumerable: true, get: () => fail() }),
    ],
    [
      'a proxy that throws',
      () => new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : fail()) }),
    ],
  ] as const)
    it(`[F26] [F33] handles a Promise of ${what} as a result or a failure`, async () => {
      const fine = defineTool({ name: 'fine', execute: () => 'fine' });
      const { contents } = await runBatch(
        [defineTool({ name: 'tool', execute: async () => hostile() as unknown }), fine],
        ['tool', 'fine'],
      );

      expect(contents).to.have.length(2);
      expect(contents[1]).to.equal('fine');
    });
});

describe('a call whose advisor or converter never settles', () => {
  it('[F35] is not retried when the conversion of its result times out', async () => {
    let runs = 0;
    const tool = defineTool({
      name: 'tool',
      effect: 'idempotent',
      retries: 2,
      timeout: 20,
      execute: () => ++runs,
      resultConverter: () => new Promise<string>(() => undefined),
    });
    const { contents, results } = await runBatch([tool], ['tool']);

    expect(contents).to.deep.equal([
      'The tool "tool" has run, but its result cannot be shown. Do not call it again for this.',
    ]);
    expect([runs, results[0]?.result.value]).to.deep.equal([1, 1]);
  });

  it('[F30] ends with the run, also while its result is converted', async () => {
    const controller = new AbortController();
    const tool = defineTool({
      name: 'tool',
      execute: () => 1,
      resultConverter: () => {
        setImmediate(() => controller.abort());
        return new Promise<string>(() => undefined);
      },
    });
    const { contents } = await runBatch([tool], ['tool'], { run: { signal: controller.signal } });

    expect(contents).to.deep.equal([ENDED]);
  });

  it('[F30] ends with the run', async () => {
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    const run = { signal: controller.signal, wrap: () => new Promise<never>(() => undefined) };
    const { contents } = await runBatch(
      [defineTool({ name: 'tool', execute: () => 1 })],
      ['tool'],
      { run },
    );

    expect(contents).to.deep.equal([ENDED]);
  });

  it('[F80] rejects with an error of the advisor, also while the tool is running', async () => {
    const own = new Error('the deadline of the advisor');
    const wrap: ToolCallWrapper = (call, next) =>
      Promise.race([next(call), settled().then(() => Promise.reject(own))]);
    const tool = defineTool({ name: 'tool', execute: () => new Promise(() => undefined) });
    const failure = await runBatch([tool], ['tool'], { run: { wrap } }).catch(
      (error: unknown) => error,
    );

    expect(failure).to.equal(own);
  });
});

function fail(): never {
  throw new Error('hostile');
}

describe('a turn unsubscribed at the end of an iteration', () => {
  it('[F46] starts no tool, and leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (
      listeners--,
      remove(...args)
    );
    const own = defineAdvisor({
      name: 'own-signal',
      order: 1,
      before: (request) => request.withSignal(signal),
    });
    let ran = 0;
    const tool = defineTool({ name: 'tool', execute: () => ++ran });
    const spec = ChatClient.create(
      new ScriptedChatModel([{ toolCalls: [{ name: 'tool' }] }, 'done']),
    )
      .prompt('Go.')
      .tools(tool)
      .advisors(own);
    await new Promise<void>((resolve) => {
      const subscription = spec
        .stream()
        .events()
        .subscribe((event) => {
          if (event.type === 'iteration') (subscription.unsubscribe(), resolve());
        });
    });
    await settled();

    expect([ran, listeners]).to.deep.equal([0, 0]);
  });
});
