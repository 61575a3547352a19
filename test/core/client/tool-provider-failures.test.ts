import { expect } from 'chai';
import {
  ChatClient,
  defineToolProvider,
  InvalidArgumentError,
  ToolProviderError,
  type ToolProvider,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, RUNS, type Run } from '../../support/modes.js';
import { settled } from '../../support/promises.js';
import { provider, tool, waiting } from '../../support/providers.js';

class Orders {
  state(): string {
    return 'open';
  }
}

/** The error of a run with these providers; the model must not be called. */
async function failure(
  run: Run,
  ...tools: readonly (ToolProvider | ReturnType<typeof tool>)[]
): Promise<ToolProviderError> {
  const model = new ScriptedChatModel([]);
  const error = await failureOf(run(ChatClient.create(model).prompt('?').tools(tools)));
  expect(model.prompts).to.deep.equal([]);
  expect(error).to.be.instanceOf(ToolProviderError);
  return error as ToolProviderError;
}

/** The milliseconds of the timers that are set at once. */
async function timersOf(action: () => Promise<unknown>): Promise<readonly unknown[]> {
  const real = globalThis.setTimeout;
  const times: unknown[] = [];
  const spy = (callback: () => void, time: number): unknown => (
    times.push(time),
    real(callback, time)
  );
  globalThis.setTimeout = spy as typeof setTimeout;
  const ended = action();
  globalThis.setTimeout = real;
  await ended;
  return times;
}

const timers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

for (const [mode, run] of RUNS) {
  describe(`a failing tool provider in a ${mode}`, () => {
    const cause = new Error('no route to host');
    const failing: readonly (readonly [string, ToolProvider['tools']])[] = [
      ['rejects', () => Promise.reject(cause)],
      [
        'throws',
        () => {
          throw cause;
        },
      ],
    ];

    for (const [what, tools] of failing) {
      it(`ends the request when it ${what}, with its name and cause, and aborts the others`, async () => {
        const other = waiting('other');

        const error = await failure(run, provider('inventory', tools), other.provider);

        expect(error).to.include({
          message: 'the tool provider "inventory" failed: no route to host',
          providerName: 'inventory',
          cause,
        });
        expect(other.signals.map(({ reason }) => reason as unknown)).to.deep.equal([error]);
        other.fail(new Error('afterwards'));
        await settled();
      });
    }

    it('is named also if it throws a value that is not an Error', async () => {
      const error = await failure(
        run,
        provider('inventory', () => Promise.reject(null as unknown as Error)),
      );

      expect([error.message, error.cause]).to.deep.equal([
        'the tool provider "inventory" failed: null',
        null,
      ]);
    });

    it('times out, and its signal aborts', async () => {
      const overdue = waiting('slow', 5);

      const error = await failure(run, overdue.provider);

      expect(error).to.include({
        message: 'the tool provider "slow" did not answer within 5 ms',
        providerName: 'slow',
      });
      expect(overdue.signals[0]?.reason).to.equal(error);
      overdue.fail(new Error('afterwards'));
      await settled();
    });

    it('has 30 seconds by default, and no limit with Infinity', async () => {
      const client = ChatClient.create(new ScriptedChatModel(() => 'ok'));
      const times = (timeout?: number): Promise<readonly unknown[]> =>
        timersOf(() => run(client.prompt('?').tools(provider('P', () => [], timeout))));

      expect([await times(), await times(7_000), await times(Infinity)]).to.deep.equal([
        [30_000],
        [7_000],
        [],
      ]);
    });

    it('leaves no timer behind when it succeeds, fails, or another one fails', async () => {
      const before = timers();
      const spec = ChatClient.create(new ScriptedChatModel(() => 'ok')).prompt('?');
      const fails = provider('Q', () => Promise.reject(cause));

      for (let time = 0; time < 20; time++) {
        await run(spec.tools(provider('P', () => [])));
        await failure(run, waiting('other').provider, fails);
      }

      expect(timers()).to.be.at.most(before + 3); // a test has timers of its own
    });

    const expected =
      'the tool provider "P": expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not';
    const wrong: readonly (readonly [title: string, given: unknown, message: string])[] = [
      [
        'nothing',
        undefined,
        'the tool provider "P": the result must be an array of tools, not undefined',
      ],
      [
        'a tool',
        tool('a'),
        'the tool provider "P": the result must be an array of tools, not an object',
      ],
      [
        'a text',
        'tools',
        'the tool provider "P": the result must be an array of tools, not "tools"',
      ],
      ['a hole', [tool('a'), undefined], `${expected} undefined`],
      ['a provider', [defineToolProvider({ name: 'Q', tools: [] })], `${expected} an object`],
      [
        'an instance',
        [[new Orders()]],
        `${expected} an instance of Orders; decorate its methods with @Tool({ … }) and pass toolsFrom(instance)`,
      ],
      [
        'a tool that cannot be offered',
        [{ ...tool('a'), definition: { ...tool('a').definition, inputSchema: { type: 'array' } } }],
        `the tool provider "P": tool "a": definition.inputSchema.type must be 'object', not "array"`,
      ],
    ];

    for (const [title, given, message] of wrong) {
      it(`is named if it returns ${title}`, async () => {
        const error = await failure(
          run,
          provider('P', () => given as never),
        );

        expect([error.message, error.providerName]).to.deep.equal([message, 'P']);
      });
    }

    const rename = 'Rename one of them or leave it out.';
    const collisions: readonly (readonly [
      title: string,
      tools: Parameters<typeof failure>[1][],
      name: string,
      owner: string,
    ])[] = [
      [
        'given by hand',
        [provider('P', () => [tool('a')]), tool('a')],
        'P',
        'a tool of the request or its client',
      ],
      [
        'of another provider',
        [provider('P', () => [tool('a')]), provider('Q', () => [tool('a')])],
        'Q',
        'one of the tool provider "P"',
      ],
      [
        'of its own',
        [provider('P', () => [tool('a'), tool('a')])],
        'P',
        'one of the tool provider "P"',
      ],
    ];

    for (const [title, tools, name, owner] of collisions) {
      it(`[F23] is named if a tool has the name of one ${title}`, async () => {
        const error = await failure(run, ...tools);

        expect(error.providerName).to.equal(name);
        expect(error.message).to.equal(
          `the tool provider "${name}" provides a tool "a", which is also the name of ${owner}. ${rename}`,
        );
      });
    }
  });
}

describe('defineToolProvider', () => {
  const bad: readonly (readonly [title: string, options: unknown, message: string])[] = [
    [
      'nothing',
      undefined,
      'defineToolProvider: tools must be an array of tools or a function, not undefined',
    ],
    [
      'no tools',
      { name: 'P' },
      'defineToolProvider: tools must be an array of tools or a function, not undefined',
    ],
    [
      'a blank name',
      { name: ' ', tools: [] },
      'defineToolProvider: the name of a tool provider must be a non-blank string, not " "',
    ],
    [
      'no time',
      { name: 'P', tools: [], timeout: 0 },
      'defineToolProvider: tool provider "P": timeout must be a number of milliseconds',
    ],
    [
      'something that is no tool',
      { name: 'P', tools: [null] },
      'defineToolProvider: expected a tool with definition',
    ],
    [
      '[F23] two tools of one name',
      { name: 'P', tools: [tool('a'), [tool('a')]] },
      'two tools have the same name: a.',
    ],
  ];

  for (const [title, options, message] of bad) {
    it(`rejects ${title} immediately`, () => {
      expect(() => defineToolProvider(options as never)).to.throw(InvalidArgumentError, message);
    });
  }
});
