import { expect } from 'chai';
import { Cancellation } from '../../../src/core/internal/cancellation.js';
import type { ChatResponse } from '../../../src/core/chat/chat-response.js';
import { AdvisorContext } from '../../../src/core/chat/context.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { ToolCallingManager } from '../../../src/core/tool-execution/tool-calling-manager.js';
import { cancellableRun, type ToolRun } from '../../../src/core/tool-execution/tool-run.js';
import type { Tool } from '../../../src/core/tool/tool.js';
import { asking, rejection, runBatch } from '../../support/batch.js';
import { deferred, settled } from '../../support/promises.js';

const tool = (name: string, execute: () => unknown = () => name): Tool =>
  defineTool({ name, execute });

describe('a batch result', () => {
  it('[MGR-02] [MGR-42] needs a prompt and a response', async () => {
    const manager = new ToolCallingManager();
    for (const [prompt, response] of [
      [undefined, asking('a')],
      [null, asking('a')],
      [[{ role: 'user', content: 'x' }], asking('a')],
      [new Prompt('x'), undefined],
      [new Prompt('x'), { toolCalls: [] }],
    ])
      expect(
        await rejection(manager.executeToolCalls(prompt as Prompt, response as ChatResponse)),
      ).to.be.instanceOf(InvalidArgumentError);
  });

  it('[MGR-03] contains exactly the tools of the options', async () => {
    const { messages } = await new ToolCallingManager().executeToolCalls(
      new Prompt('Go.', { tools: [tool('only')] }),
      asking('only', 'other'),
    );

    expect(messages.map(({ content }) => content)).to.deep.equal([
      'only',
      'There is no tool "other". Tools you can call: only.',
    ]);
  });

  it('[MGR-14] contains the error text in place of the result', async () => {
    const broken = tool('broken', () => {
      throw new Error('canary-2c');
    });

    expect((await runBatch([broken], ['broken'])).contents).to.deep.equal([
      'The tool "broken" failed. Error id: call_1',
    ]);
  });

  it('[MGR-37] never has an empty history, also after an empty prompt', async () => {
    const { history } = await runBatch([tool('a')], ['a'], { history: [] });

    expect(history.map((message) => message.role)).to.deep.equal(['assistant', 'tool']);
  });

  it('[MGR-39] may be an empty string', async () => {
    expect((await runBatch([tool('a', () => '')], ['a'])).contents).to.deep.equal(['']);
  });

  it('[MGR-40] contains only the messages of this batch', async () => {
    const first = await runBatch([tool('a'), tool('b')], ['a', 'a']);
    const second = await runBatch([tool('a'), tool('b')], ['b'], { history: first.history });

    expect(second.messages.map(({ toolName }) => toolName)).to.deep.equal(['b']);
    expect(second.history).to.have.length(first.history.length + 2);
  });

  it('[MGR-41] contains a message also for a call without a name or an id', async () => {
    const { messages } = await runBatch([tool('a')], [{ name: '' }, { name: 'a', id: '' }]);

    expect(
      messages.map(({ toolCallId, toolName, content }) => [toolCallId, toolName, content]),
    ).to.deep.equal([
      ['call_1', '', 'There is no tool "". Tools you can call: a.'],
      ['', 'a', 'a'],
    ]);
  });

  it('[MGR-43] is not returnDirect by default', async () => {
    expect((await runBatch([tool('a')], ['a'])).returnDirect).to.equal(false);
  });

  it('[MGR-44] is a new, equal object each time', async () => {
    const manager = new ToolCallingManager();
    const [prompt, response] = [new Prompt('Go.', { tools: [tool('a')] }), asking('a')];
    const results = [
      await manager.executeToolCalls(prompt, response),
      await manager.executeToolCalls(prompt, response),
    ];

    expect(results[0]).to.not.equal(results[1]);
    expect(results[0]?.history).to.deep.equal(results[1]?.history);
    expect(prompt.length).to.equal(1);
  });
});

describe('abandonedCalls of a ToolCallingManager', () => {
  it('[F36] counts tools that end after their call was abandoned, and nothing else', async () => {
    const manager = new ToolCallingManager({ toolTimeout: 5 });
    const gates = [deferred<string>(), deferred<string>()];
    const overdue = defineTool({ name: 'overdue', execute: ({ n }) => gates[Number(n)]?.promise });
    const events: unknown[] = [];
    const response = asking(
      { name: 'overdue', args: { n: 0 } },
      { name: 'overdue', args: { n: 1 } },
      'quick',
    );
    const { messages } = await manager.executeToolCalls(new Prompt('Go.'), response, {
      tools: [overdue, tool('quick')],
      onEvent: (event) => events.push(event),
    });
    const before = [manager.abandonedCalls, events.length];
    gates[0]?.resolve('afterwards');
    gates[1]?.reject(new Error('afterwards'));
    await settled();

    expect(before).to.deep.equal([0, 9]);
    expect([manager.abandonedCalls, events.length]).to.deep.equal([2, 9]);
    expect(JSON.stringify([messages, events])).to.not.include('afterwards');
  });

  it('[F36] counts tools of cancelled runs', async () => {
    const manager = new ToolCallingManager();
    const gate = deferred();
    const controller = new AbortController();
    const batch = manager.executeToolCalls(new Prompt('Go.'), asking('overdue'), {
      tools: [tool('overdue', () => gate.promise)],
      signal: controller.signal,
    });
    await settled();
    controller.abort();
    await batch;
    expect(manager.abandonedCalls).to.equal(0);
    gate.resolve();
    await settled();

    expect(manager.abandonedCalls).to.equal(1);
  });
});

describe('a cancellable run', () => {
  const hanging = (seen: AbortSignal[]): Tool =>
    defineTool({
      name: 'hang',
      execute: (_, { signal }) => (seen.push(signal), new Promise(() => undefined)),
    });

  const ways: Readonly<Record<string, (run: ToolRun, signal: AbortSignal) => ToolRun>> = {
    itself: (run) => run,
    'a copy': (run) => ({ ...run }),
    'a copy with a signal of its own': (run, signal) => ({ ...run, signal }),
  };
  for (const [what, change] of Object.entries(ways)) {
    it(`[F30] ends with its cancellation (${what})`, async () => {
      const cancellation = new Cancellation();
      const seen: AbortSignal[] = [];
      const run = change(
        cancellableRun(cancellation, { tools: [hanging(seen)] }),
        new AbortController().signal,
      );
      const batch = new ToolCallingManager().executeToolCalls(
        new Prompt('Go.'),
        asking('hang'),
        run,
      );
      await settled();
      cancellation.cancel('enough');

      expect((await batch).messages[0]?.content).to.equal(
        'Not run to its end: the turn was cancelled.',
      );
      expect(seen[0]?.reason).to.equal('enough');
    });
  }

  it('[F30] ends with the signal of a copy too', async () => {
    const controller = new AbortController();
    const seen: AbortSignal[] = [];
    const run = cancellableRun(new Cancellation(), {
      tools: [hanging(seen)],
      advisorContext: AdvisorContext.empty,
    });
    const batch = new ToolCallingManager().executeToolCalls(new Prompt('Go.'), asking('hang'), {
      ...run,
      signal: controller.signal,
    });
    await settled();
    controller.abort('own');
    await batch;

    expect(seen[0]?.reason).to.equal('own');
  });

  it('has a signal for custom managers', () => {
    const cancellation = new Cancellation();
    const run = cancellableRun(cancellation, {});
    cancellation.cancel('why');

    expect([run.signal.aborted, run.signal.reason]).to.deep.equal([true, 'why']);
  });
});
