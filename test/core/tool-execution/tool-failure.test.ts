import { expect } from 'chai';
import { z } from 'zod';
import {
  InvalidArgumentError,
  LimitExceededError,
  ToolError,
  ToolExecutionError,
} from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import type { ToolCallingManagerOptions } from '../../../src/core/tool-execution/tool-calling-manager.js';
import type { ToolExecutionResult } from '../../../src/core/tool-execution/execution-result.js';
import type { Tool, ToolErrorPolicy } from '../../../src/core/tool/tool.js';
import { asking, rejection, runBatch } from '../../support/batch.js';
import { deferred, settled } from '../../support/promises.js';

const CANARY = 'canary-51d2';
const GENERIC = 'The tool "pay" failed. Error id: call_1';

class PaymentError extends Error {}
class CardError extends PaymentError {}

const throws = (error: unknown): (() => never) => {
  return () => {
    throw error;
  };
};

/** A tool that fails. */
function pay(error: unknown, onToolError?: ToolErrorPolicy): Tool {
  const tool = defineTool({ name: 'pay', execute: throws(error) });
  return onToolError === undefined ? tool : { ...tool, metadata: { onToolError } };
}

const typed = defineTool({
  name: 'typed',
  input: z.object({ x: z.string() }),
  execute: () => 'typed',
});
const fine = defineTool({ name: 'fine', execute: () => 'fine' });

async function executionError(
  promise: Promise<unknown>,
): Promise<ToolExecutionError<ToolExecutionResult>> {
  const error = await rejection(promise);
  expect(error).to.be.instanceOf(ToolExecutionError);
  return error as ToolExecutionError<ToolExecutionResult>;
}

async function contentOf(
  error: unknown,
  options: ToolCallingManagerOptions = {},
): Promise<unknown> {
  return (await runBatch([pay(error)], ['pay'], options)).contents[0];
}

describe('onToolError', () => {
  describe("'send-to-model'", () => {
    it('[TOL-30] sends the message of a ToolError to the model; other errors reach only the application', async () => {
      expect(await contentOf(new ToolError('No money left.'))).to.equal('No money left.');
      expect(await contentOf(new Error(CANARY))).to.equal(GENERIC);
    });

    it('[TOL-31] sends the tool and an error id if the message is blank', async () => {
      for (const message of ['', '  \n'])
        expect(await contentOf(new ToolError(message))).to.equal(GENERIC);
    });

    it('can be the policy of one tool', async () => {
      const { contents } = await runBatch([pay(new Error(CANARY), 'send-to-model')], ['pay'], {
        onToolError: 'throw',
      });

      expect(contents).to.deep.equal([GENERIC]);
    });
  });

  describe("'throw'", () => {
    it('[TOL-32] [TOL-34] rejects with the error of the tool as the cause, whatever its type', async () => {
      for (const cause of [
        new Error(CANARY),
        new ToolError('x'),
        new RangeError(),
        'text',
        undefined,
        null,
        Object.freeze({}),
      ]) {
        const error = await executionError(
          runBatch([pay(cause)], ['pay'], { onToolError: 'throw' }),
        );
        expect(error).to.include({ toolName: 'pay', callId: 'call_1', cause });
      }
    });

    it('can be the policy of one tool', async () => {
      const cause = new Error(CANARY);
      const error = await executionError(runBatch([fine, pay(cause, 'throw')], ['fine', 'pay']));

      expect(error).to.include({ toolName: 'pay', callId: 'call_2', cause });
    });

    it("is the tool's policy for invalid arguments too", async () => {
      const strict: Tool = { ...typed, metadata: { onToolError: 'throw' } };

      expect((await executionError(runBatch([strict], ['typed']))).message).to.include(
        '- x: Invalid input',
      );
    });

    it('[F26] waits for all calls, and keeps their results', async () => {
      const gate = deferred<string>();
      const slow = defineTool({ name: 'slow', execute: () => gate.promise });
      const response = asking('fine', 'pay', 'slow', 'none');
      const batch = runBatch([fine, pay(new Error(CANARY), 'throw'), slow], response);
      await settled();
      gate.resolve('slow');
      const { result } = await executionError(batch);

      expect(
        result.results.map(({ call, result: { content, value }, accepted }) => [
          call.name,
          content,
          value,
          accepted,
        ]),
      ).to.deep.equal([
        ['fine', 'fine', 'fine', true],
        ['pay', 'The tool "pay" failed. Error id: call_2', undefined, true],
        ['slow', 'slow', 'slow', true],
        ['none', 'There is no tool "none". Tools you can call: fine, pay, slow.', undefined, false],
      ]);
      expect(result.history.map((message) => message.role)).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'tool',
        'tool',
        'tool',
      ]);
      expect(result.history[1]).to.equal(response.message);
      expect(result.messages[1]).to.deep.include({ toolCallId: 'call_2', isError: true });
    });

    it('rejects with the first failed call in call order, whichever failed first', async () => {
      const gate = deferred();
      const fails = (name: string, wait: Promise<unknown>): Tool =>
        defineTool({ name, execute: () => wait.then(() => Promise.reject(new Error(name))) });
      const second = fails('second', Promise.resolve());
      const batch = runBatch([fails('first', gate.promise), second], ['first', 'second'], {
        onToolError: 'throw',
        run: {
          onEvent: (event) => {
            if (event.type === 'tool-result') gate.resolve();
          },
        },
      });

      expect((await executionError(batch)).toolName).to.equal('first');
    });

    it('emits an event for each call, also for failed ones', async () => {
      const emitted: unknown[] = [];
      const cause = new Error(CANARY);
      await executionError(
        runBatch([fine, pay(cause, 'throw')], ['pay', 'fine'], {
          run: {
            onEvent: (event) =>
              event.type === 'tool-result' &&
              emitted.push([event.call.name, event.result.isError === true]),
          },
        }),
      );

      expect(emitted).to.deep.equal([
        ['pay', true],
        ['fine', false],
      ]);
    });

    it('takes precedence over a limit', async () => {
      const batch = runBatch([fine, pay(1, 'throw')], ['fine', 'fine', 'pay'], {
        maxCallsPerTool: 1,
      });

      expect((await executionError(batch)).result.messages[1]?.content).to.match(
        /^Not run: the limit of 1 calls/,
      );
      expect(
        await rejection(runBatch([fine], ['fine', 'fine'], { maxCallsPerTool: 1 })),
      ).to.be.instanceOf(LimitExceededError);
    });
  });

  describe('a function', () => {
    it('receives the error and the call, and returns the text for the model', async () => {
      const error = new Error(CANARY);
      const seen: unknown[] = [];
      const onToolError: ToolErrorPolicy = (...args) => (seen.push(...args), 'Try another card.');
      const { messages, results } = await runBatch(
        [pay(error)],
        [{ name: 'pay', args: { n: 1 } }],
        { onToolError },
      );

      expect(seen).to.deep.equal([error, { id: 'call_1', name: 'pay', arguments: '{"n":1}' }]);
      expect(messages[0]).to.deep.include({ content: 'Try another card.', isError: true });
      expect(results[0]?.result.error).to.equal(error);
    });

    it('may be asynchronous', async () => {
      expect(await contentOf(1, { onToolError: async () => (await settled(), 'Later.') })).to.equal(
        'Later.',
      );
    });

    it('of a tool takes precedence over the one of the manager', async () => {
      const { contents } = await runBatch([pay(1, () => 'by the tool'), fine], ['pay', 'none'], {
        onToolError: () => 'by the manager',
      });

      expect(contents).to.deep.equal(['by the tool', 'by the manager']);
    });

    it('is called for invalid arguments and unknown tools', async () => {
      const onToolError: ToolErrorPolicy = (error) =>
        `${(error as Error).message.split('\n')[0]} (${error instanceof ToolError})`;
      const { contents } = await runBatch([typed], ['typed', 'none'], { onToolError });

      expect(contents).to.deep.equal([
        'The arguments of "typed" are not valid: (true)',
        'There is no tool "none". Tools you can call: typed. (true)',
      ]);
    });

    for (const text of ['', ' \n', undefined, null, 7, { text: 'x' }, ['x']]) {
      it(`[F27] that returns ${JSON.stringify(text)} keeps the general text`, async () => {
        const onToolError = (() => text) as unknown as ToolErrorPolicy;

        expect(await contentOf(new Error(CANARY), { onToolError })).to.equal(GENERIC);
        expect(
          await contentOf(new Error(CANARY), {
            onToolError: (async () => text) as unknown as ToolErrorPolicy,
          }),
        ).to.equal(GENERIC);
      });
    }

    it('that throws rejects with its unchanged error after all calls have ended', async () => {
      const gate = deferred();
      let siblings = 0;
      const slow = defineTool({
        name: 'slow',
        execute: async () => (await gate.promise, ++siblings),
      });
      for (const how of ['throws', 'rejects']) {
        const own = new PaymentError(how);
        const policy = how === 'throws' ? throws(own) : () => Promise.reject(own);
        const batch = rejection(runBatch([pay(1), slow], ['pay', 'slow'], { onToolError: policy }));
        await settled();
        gate.resolve();

        expect(await batch).to.equal(own);
      }
      expect(siblings).to.equal(2);
    });

    it('may throw undefined', async () => {
      const outcome = await runBatch([pay(1)], ['pay'], { onToolError: throws(undefined) }).then(
        () => 'a result',
        (error: unknown) => [error],
      );

      expect(outcome).to.deep.equal([undefined]);
    });

    it('[F32] has its text truncated like any result', async () => {
      expect(await contentOf(1, { onToolError: () => 'x'.repeat(9), maxResultLength: 4 })).to.equal(
        'xxx\n[5 of 9 characters cut]\nx',
      );
    });

    it('[F30] is not awaited if the run is cancelled', async () => {
      const controller = new AbortController();
      const batch = runBatch([pay(1)], ['pay'], {
        onToolError: () => new Promise(() => undefined),
        run: { signal: controller.signal },
      });
      await settled();
      controller.abort();

      expect((await batch).contents).to.deep.equal(['Not run to its end: the turn was cancelled.']);
    });
  });

  describe('rethrow', () => {
    it('[TOL-33] throws errors of a class and its subclasses unchanged; other errors are sent to the model', async () => {
      for (const error of [new PaymentError('a'), new CardError('b')])
        expect(
          await rejection(runBatch([pay(error)], ['pay'], { rethrow: [RangeError, PaymentError] })),
        ).to.equal(error);

      expect(await contentOf(new Error(CANARY), { rethrow: [RangeError, PaymentError] })).to.equal(
        GENERIC,
      );
    });

    it('[TOL-33] takes precedence over every policy', async () => {
      const error = new CardError();
      for (const policy of ['send-to-model', 'throw', () => 'text'] as const) {
        const batch = runBatch([pay(error, policy)], ['pay'], {
          rethrow: [CardError],
          onToolError: policy,
        });
        expect(await rejection(batch)).to.equal(error);
      }
    });

    it('waits for all calls, whose results are in their events', async () => {
      const emitted: unknown[] = [];
      const error = new CardError();
      const slow = defineTool({ name: 'slow', execute: async () => (await settled(), 'slow') });
      const onEvent = (event: {
        readonly type: string;
        readonly result?: { readonly content: unknown };
      }): void => {
        if (event.type === 'tool-result') emitted.push(event.result?.content);
      };

      expect(
        await rejection(
          runBatch([pay(error), slow], ['pay', 'slow'], { rethrow: [CardError], run: { onEvent } }),
        ),
      ).to.equal(error);
      expect(emitted).to.deep.equal([GENERIC, 'slow']);
    });

    it('[F26] handles errors and classes whose members throw', async () => {
      const hostile = new Proxy(
        {},
        { get: throws(CANARY), has: throws(CANARY), getPrototypeOf: throws(CANARY) },
      );
      class Strange {
        static [Symbol.hasInstance](): boolean {
          throw new Error(CANARY);
        }
      }

      expect(await contentOf(hostile, { rethrow: [Error, Strange] })).to.equal(GENERIC);
      expect(await contentOf(new PaymentError(), { rethrow: [Strange] })).to.equal(GENERIC);
      expect(
        await rejection(
          runBatch([pay(new PaymentError('x'))], ['pay'], { rethrow: [Strange, PaymentError] }),
        ),
      ).to.have.property('message', 'x');
    });
  });

  it('[F30] is ignored for calls of a cancelled run', async () => {
    for (const options of [
      { onToolError: 'throw' },
      { rethrow: [Object] },
      { onToolError: throws(1) },
    ] as const) {
      const controller = new AbortController();
      const hang = defineTool({ name: 'hang', execute: () => new Promise(() => undefined) });
      const batch = runBatch([hang], ['hang'], { ...options, run: { signal: controller.signal } });
      await settled();
      controller.abort();

      expect((await batch).contents).to.deep.equal(['Not run to its end: the turn was cancelled.']);
    }
  });

  const wrong: Readonly<Record<string, readonly [options: object, message: string]>> = {
    'a class alone': [{ rethrow: Error }, 'rethrow must be an array of classes, not a function'],
    'a name': [{ rethrow: ['Error'] }, 'rethrow must be an array of classes, not an array of 1'],
    'a name beside a class': [
      { rethrow: [Error, 'Error'] },
      'rethrow must be an array of classes, not an array of 2',
    ],
    'another policy': [
      { onToolError: 'ignore' },
      `onToolError must be 'send-to-model', 'throw' or a function, not "ignore"`,
    ],
  };
  for (const [what, [options, message]] of Object.entries(wrong)) {
    it(`rejects ${what}`, async () => {
      expect(await rejection(runBatch([], ['x'], options)))
        .to.be.instanceOf(InvalidArgumentError)
        .with.property('message', `ToolCallingManager: ${message}`);
    });
  }
});

describe('[F26] an invalid result', () => {
  const results: Readonly<Record<string, object>> = {
    'no content': {},
    'content that is a number': { content: 7 },
    'a part that is none': { content: [null] },
    'a context that is none': { content: 'x', context: {} },
  };
  for (const [what, result] of Object.entries(results)) {
    it(`fails only its own call (${what})`, async () => {
      const wrap = (invocation: { readonly tool: Tool }): Promise<never> =>
        Promise.resolve((invocation.tool === fine ? { content: 'ok' } : result) as never);
      const { contents } = await runBatch(
        [fine, typed],
        ['fine', { name: 'typed', args: { x: '' } }],
        { run: { wrap } },
      );

      expect(contents).to.deep.equal(['ok', 'The tool "typed" failed. Error id: call_2']);
    });
  }
});
