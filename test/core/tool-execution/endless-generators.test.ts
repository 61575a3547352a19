import { expect } from 'chai';
import { from, mergeMap, range } from 'rxjs';
import { ToolError } from '../../../src/core/errors/tool-errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { runBatch } from '../../support/batch.js';

/** Ends the test, not the process, if nothing else does. */
const GIVE_UP = 5_000;

/** Counts without ever giving the event loop a turn. */
const endless: Readonly<Record<string, () => unknown>> = {
  'an async generator': async function* () {
    for (const end = performance.now() + GIVE_UP; performance.now() < end;) yield 1;
  },
  'a generator': function* () {
    for (const end = performance.now() + GIVE_UP; performance.now() < end;) yield 1;
  },
  'a generator of settled promises': function* () {
    for (const end = performance.now() + GIVE_UP; performance.now() < end;)
      yield Promise.resolve(1);
  },
};

describe('an endless generator', () => {
  for (const [what, execute] of Object.entries(endless)) {
    it(`[D51] ends at its time limit: ${what}`, async () => {
      const tool = defineTool({ name: 'tool', timeout: 20, execute });

      const { contents } = await runBatch([tool], ['tool'], { run: {} });

      expect(contents).to.deep.equal(['The tool "tool" did not answer within 20 ms.']);
    });

    it(`[D51] ends with its run, by a timer of the application: ${what}`, async () => {
      const controller = new AbortController();
      const tool = defineTool({ name: 'tool', timeout: Infinity, execute });
      setTimeout(() => controller.abort(), 20);

      const { contents } = await runBatch([tool], ['tool'], {
        run: { signal: controller.signal, onEvent: () => undefined },
      });

      expect(contents).to.deep.equal(['Not run to its end: the turn was cancelled.']);
    });
  }

  it('[D51] keeps the order of its items, and the last one as the result', async () => {
    const tool = defineTool({
      name: 'tool',
      execute: async function* () {
        const end = performance.now() + 50;
        for (let item = 0; performance.now() < end || item < 10; item++) yield item;
      },
    });

    const { events, results } = await runBatch([tool], ['tool']);

    const items = events.flatMap((event) => (event.type === 'tool-progress' ? [event.data] : []));
    expect([...items, results[0]?.result.value]).to.deep.equal(
      Array.from({ length: items.length + 1 }, (_, at) => at),
    );
  });
});

describe('maxProgress', () => {
  const sources: Readonly<Record<string, () => unknown>> = {
    'a generator': function* () {
      for (let item = 0; item < 1_000_000; item++) yield item;
    },
    'an Observable that emits at once': () => range(0, 1_000_000),
    'an Observable': () => from(Promise.resolve()).pipe(mergeMap(() => range(0, 1_000_000))),
  };
  for (const [what, execute] of Object.entries(sources)) {
    it(`[D51] ends a tool with more progress: ${what}`, async () => {
      const tool = defineTool({ name: 'tool', execute });

      const { events, contents, results } = await runBatch([tool], ['tool'], { maxProgress: 100 });

      const problem = 'The tool "tool" was stopped: it emitted more than 100 progress values';
      expect(contents).to.deep.equal([`${problem}.`]);
      expect(events.filter(({ type }) => type === 'tool-progress')).to.have.length(100);
      const { error } = results[0]?.result ?? {};
      expect(error).to.have.nested.include({ 'cause.limit': 'progress', 'cause.value': 100 });
      expect(error).to.have.nested.include({ 'cause.option': 'maxProgress' });
    });
  }

  it('[D51] rejects a call of progress() beyond it, in the tool', async () => {
    const tool = defineTool({
      name: 'tool',
      timeout: Infinity,
      execute: async (_, { progress }) => {
        for (let item = 0; item < 1_000_000; item++) progress(await Promise.resolve(item));
      },
    });

    const { events, results } = await runBatch([tool], ['tool'], { maxProgress: 2 });

    expect(events.filter(({ type }) => type === 'tool-progress')).to.have.length(2);
    expect(results[0]?.result.error).to.be.instanceOf(ToolError);
  });

  it('[D51] accepts as many values as the limit', async () => {
    const tool = defineTool({
      name: 'tool',
      execute: function* () {
        yield* [1, 2, 3];
      },
    });

    const { contents } = await runBatch([tool], ['tool'], { maxProgress: 2 });

    expect(contents).to.deep.equal(['3']);
  });
});
