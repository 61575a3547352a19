import { expect } from 'chai';
import { from, Observable, of, throwError } from 'rxjs';
import {
  ChatClient,
  defineTool,
  ToolCallingManager,
  toolResult,
  type ChatEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { deferred } from '../../support/promises.js';
import { runBatch } from '../../support/batch.js';

const progressOf = (events: readonly ChatEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.type === 'tool-progress' ? [event.data] : []));

/** The events of a tool call. */
const run = async (
  execute: () => unknown,
): Promise<{ progress: readonly unknown[]; value: unknown; content: unknown; error: unknown }> => {
  const { events, results, contents } = await runBatch(
    [defineTool({ name: 'tool', execute })],
    ['tool'],
  );
  return {
    progress: progressOf(events),
    value: results[0]?.result.value,
    content: contents[0],
    error: results[0]?.result.error,
  };
};

describe('a generator or Observable as a result', () => {
  const sources: Readonly<Record<string, () => unknown>> = {
    'an async generator': async function* () {
      yield 1;
      await Promise.resolve();
      yield 2;
      yield 3;
    },
    'a generator': function* () {
      yield 1;
      yield Promise.resolve(2);
      yield 3;
    },
    'a generator that returns the last': async function* () {
      yield 1;
      yield 2;
      return 3;
    },
    'a Promise of a generator': async () =>
      (async function* () {
        yield* [1, 2, 3];
        await Promise.resolve();
      })(),
    'an Observable': () => of(1, 2, 3),
    'an Observable that takes its time': () => flat(from(Promise.resolve([1, 2, 3]))),
  };
  for (const [what, execute] of Object.entries(sources)) {
    it(`emits the items of ${what} as progress, and the last one as the result`, async () => {
      expect(await run(execute)).to.deep.equal({
        progress: [1, 2],
        value: 3,
        content: '3',
        error: undefined,
      });
    });
  }

  const empty: Readonly<Record<string, () => unknown>> = {
    generator: async function* () {},
    Observable: () => of(),
  };
  for (const [what, execute] of Object.entries(empty)) {
    it(`is undefined for an empty ${what}`, async () => {
      expect(await run(execute)).to.deep.include({
        progress: [],
        value: undefined,
        content: 'Done',
      });
    });
  }

  it('distinguishes an undefined item from no item', async () => {
    expect(await run(() => of('a', undefined))).to.deep.include({
      progress: ['a'],
      value: undefined,
    });
  });

  it('emits an item as progress if no other follows in the same task, though it may be the last', async () => {
    const emitted = deferred();
    const go = deferred();
    const slow = defineTool({
      name: 'slow',
      execute: async function* () {
        yield 'half';
        await go.promise;
        yield 'all';
      },
    });
    const events: ChatEvent[] = [];
    const onEvent = (event: ChatEvent): void => {
      events.push(event);
      if (event.type === 'tool-progress') emitted.resolve();
    };
    const running = runBatch([slow], ['slow'], { run: { tools: [slow], onEvent } });
    await emitted.promise;
    go.resolve();
    const { contents } = await running;

    expect([progressOf(events), contents]).to.deep.equal([['half'], ['all']]);
  });

  it('may end with a toolResult', async () => {
    const { content, value } = await run(async function* () {
      yield 'working';
      yield toolResult({ content: 'short', value: 'long' });
    });

    expect([content, value]).to.deep.equal(['short', 'long']);
  });

  for (const [what, value] of Object.entries({
    'an array': [1, 2],
    'a Map': new Map([[1, 2]]),
    'a list with pages': {
      data: [1],
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: 7 }) }),
    },
  })) {
    it(`is not ${what}, which is data`, async () => {
      expect(await run(() => value)).to.deep.include({ progress: [], value });
    });
  }

  const failing: Readonly<Record<string, () => unknown>> = {
    generator: async function* () {
      yield 1;
      throw new Error('secret');
    },
    Observable: () =>
      new Observable((subscriber) => (subscriber.next(1), subscriber.error(new Error('secret')))),
    'Observable at once': () => throwError(() => new Error('secret')),
  };
  for (const [what, execute] of Object.entries(failing)) {
    it(`[F34] fails like any tool: ${what}`, async () => {
      const { content, error } = await run(execute);

      expect(content).to.equal('The tool "tool" failed. Error id: call_1');
      expect(error).to.be.an('error').with.property('message', 'secret');
    });
  }

  it('[F28] [F36] closes a generator that times out, and ignores its later items', async () => {
    const closed = deferred();
    const go = deferred();
    const tool = defineTool({
      name: 'tool',
      timeout: 20,
      execute: async function* () {
        try {
          yield 'first';
          await go.promise;
          yield 'second';
        } finally {
          closed.resolve();
        }
      },
    });
    const events: ChatEvent[] = [];
    const manager = new ToolCallingManager();
    const model = new ScriptedChatModel([
      { toolCalls: [{ name: 'tool', arguments: {} }] },
      'Done.',
    ]);
    const client = ChatClient.create(model);
    await client
      .prompt('Go.')
      .tools(tool)
      .stream()
      .events()
      .forEach((event) => void events.push(event));
    go.resolve();
    await closed.promise;

    expect(progressOf(events)).to.deep.equal(['first']);
    expect(model.prompts[1]?.messages.at(-1)).to.have.property(
      'content',
      'The tool "tool" did not answer within 20 ms.',
    );
    expect(manager.abandonedCalls).to.equal(0);
  });

  it('[F28] unsubscribes from an Observable that times out', async () => {
    let open = 0;
    const endless = new Observable(() => {
      open++;
      return () => open--;
    });
    const tool = defineTool({ name: 'tool', timeout: 10, execute: () => endless });

    const { contents } = await runBatch([tool], ['tool']);

    expect([contents, open]).to.deep.equal([['The tool "tool" did not answer within 10 ms.'], 0]);
  });

  it('[F30] unsubscribes from an Observable when the run is cancelled', async () => {
    const subscribed = deferred();
    let open = 0;
    const endless = new Observable(() => {
      open++;
      subscribed.resolve();
      return () => open--;
    });
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'tool', arguments: {} }] }]);
    const running = ChatClient.create(model)
      .prompt('Go.')
      .tools(defineTool({ name: 'tool', execute: () => endless }))
      .stream()
      .events()
      .subscribe();
    await subscribed.promise;
    running.unsubscribe();

    expect(open).to.equal(0);
  });
});

/** The items of an Observable of arrays. */
function flat(source: Observable<readonly unknown[]>): Observable<unknown> {
  return new Observable((subscriber) =>
    source.subscribe({
      next: (items) => items.forEach((item) => subscriber.next(item)),
      complete: () => subscriber.complete(),
    }),
  );
}
