import { expect } from 'chai';
import {
  AdvisorContext,
  AdvisorOrder,
  ChatClient,
  ContextKey,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  ToolError,
  toolResult,
  type Tool,
  type ToolContext,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { settled } from '../../support/promises.js';

const TENANT = new ContextKey<string | undefined>('shop.tenant');
const LIMIT = new ContextKey<number>('shop.limit', 10);

/** A tool that keeps what it is given. */
function spy(): { readonly tool: Tool; readonly contexts: ToolContext[] } {
  const contexts: ToolContext[] = [];
  return {
    contexts,
    tool: defineTool({ name: 'spy', execute: (_args, context) => void contexts.push(context) }),
  };
}

const callsSpy = (): ScriptedChatModel =>
  new ScriptedChatModel(({ messages }) =>
    messages.length === 1 ? { toolCalls: [{ name: 'spy' }] } : 'ok',
  );

for (const [mode, run] of RUNS) {
  describe(`the tool context of a ${mode}`, () => {
    it('[TOL-13] merges the values of the request over the defaults of the client, by key or by name', async () => {
      const { tool, contexts } = spy();
      const client = ChatClient.builder(callsSpy())
        .defaultTools(tool)
        .defaultToolContext(TENANT, 'default')
        .defaultToolContext({ region: 'eu', [LIMIT.name]: 5 })
        .build();

      await run(client.prompt('?'));
      await run(
        client
          .prompt('?')
          .toolContext(TENANT, 'acme')
          .toolContext({ region: 'us' })
          .toolContext(LIMIT, 7),
      );
      await run(client.prompt('?'));

      const seen = contexts.map(({ get, values }) => [get(TENANT), get(LIMIT), values]);
      const usual = ['default', 5, { 'shop.tenant': 'default', region: 'eu', 'shop.limit': 5 }];
      expect(seen).to.deep.equal([
        usual,
        ['acme', 7, { 'shop.tenant': 'acme', region: 'us', 'shop.limit': 7 }],
        usual,
      ]);
    });

    it('[TOL-14] is optional: a tool reads the default of a key, and can reject the call', async () => {
      const picky = defineTool({
        name: 'spy',
        execute: (_args, { get }) => {
          if (get(TENANT) === undefined) throw new ToolError(`No tenant; at most ${get(LIMIT)}.`);
          return 'never';
        },
      });
      const model = callsSpy();

      expect(await run(ChatClient.create(model).prompt('?').tools(picky))).to.equal('ok');

      expect(model.prompts[1]?.messages.at(-1)).to.deep.include({
        role: 'tool',
        content: 'No tenant; at most 10.',
      });
    });

    it('includes values that an advisor adds, by key or by name', async () => {
      const { tool, contexts } = spy();
      const adds = defineAdvisor({
        name: 'adds',
        order: 0,
        before: (request) =>
          request.withToolContext(TENANT, 'advised').withToolContext({ region: 'eu' }),
      });

      await run(
        ChatClient.create(callsSpy())
          .prompt('?')
          .tools(tool)
          .toolContext({ region: 'us', kept: true })
          .advisors(adds),
      );

      expect(contexts[0]?.values).to.deep.equal({
        region: 'eu',
        kept: true,
        'shop.tenant': 'advised',
      });
    });

    it('cannot be changed by a tool', async () => {
      const changes = defineTool({
        name: 'spy',
        execute: (_args, { values }) => {
          Object.assign(values, { [TENANT.name]: 'mine' });
        },
      });
      const client = ChatClient.builder(callsSpy()).defaultToolContext(TENANT, 'default').build();
      const { tool, contexts } = spy();

      await run(client.prompt('?').tools(changes));
      await run(client.prompt('?').tools(tool));

      expect(contexts[0]?.get(TENANT)).to.equal('default');
    });
  });

  describe(`context from tools for the advisors of a ${mode}`, () => {
    const FIRST = new ContextKey<string>('test.first', '');
    const SECOND = new ContextKey<string>('test.second', '');
    const BOTH = new ContextKey<string>('test.both', '');
    const OWN = { first: FIRST, second: SECOND };

    /** The keys that the advisors see, in a turn where both tools run in parallel and then each alone. */
    async function turn(slower: 'first' | 'second') {
      const named = (name: 'first' | 'second'): Tool =>
        defineTool({
          name,
          execute: async (_args, { advisorContext }) => {
            const seen = advisorContext.get(BOTH);
            if (name === slower) for (let turns = 0; turns < 5; turns++) await settled();
            return toolResult({
              value: seen,
              context: AdvisorContext.empty.with(OWN[name], `by ${name}`).with(BOTH, `by ${name}`),
            });
          },
        });
      const seen: string[] = [];
      const watch = (name: string, order: number) =>
        defineAdvisor({
          name,
          order,
          before: ({ context }) =>
            void seen.push(
              `${name} in: ${[FIRST, SECOND, BOTH].map((key) => context.get(key)).join()}`,
            ),
          after: ({ context }) =>
            void seen.push(
              `${name} out: ${[FIRST, SECOND, BOTH].map((key) => context.get(key)).join()}`,
            ),
        });
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'first' }, { name: 'second' }] },
        { toolCalls: [{ name: 'first' }] },
        'ok',
      ]);
      const spec = ChatClient.create(model)
        .prompt('?')
        .tools(named('first'), named('second'))
        .advisors(watch('outside', 0), watch('inside', AdvisorOrder.LOGGER));
      await run(spec);
      return {
        seen,
        sent: model.prompts
          .at(-1)
          ?.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : [])),
      };
    }

    for (const slower of ['first', 'second'] as const) {
      it(`[F38] is available from the next iteration on; of parallel calls the last one wins, also if the ${slower} one is slower`, async () => {
        const { seen, sent } = await turn(slower);

        expect(seen).to.deep.equal([
          'outside in: ,,',
          'inside in: ,,',
          'inside out: ,,',
          'inside in: by first,by second,by second',
          'inside out: by first,by second,by second',
          'inside in: by first,by second,by first',
          'inside out: by first,by second,by first',
          'outside out: by first,by second,by first',
        ]);
        expect(sent).to.deep.equal(['', '', 'by second']); // parallel tools do not see the context of each other
      });
    }
  });
}

describe('a tool context setter', () => {
  const spec = ChatClient.create(new ScriptedChatModel([])).prompt('?');
  const builder = () => ChatClient.builder(new ScriptedChatModel([]));
  const bad: readonly (readonly [title: string, input: readonly unknown[], message: string])[] = [
    ['nothing', [], 'values must be an object of named values, not undefined'],
    [
      'a key without a value',
      [TENANT],
      'expected a ContextKey and its value, or an object of named values, not an object',
    ],
    ['a key with undefined', [TENANT, undefined], '"shop.tenant" must be a value, not undefined'],
    ['a key with null', [TENANT, null], '"shop.tenant" must be a value, not null'],
    [
      'a name in place of a key',
      ['tenant', 'acme'],
      'expected a ContextKey and its value, or an object of named values, not "tenant"',
    ],
    [
      'null in place of a key',
      [null, 'acme'],
      'expected a ContextKey and its value, or an object of named values, not null',
    ],
  ];

  for (const [title, input, message] of bad) {
    it(`[CLI-42] rejects ${title} immediately`, () => {
      const set = (target: object, method: string) => () =>
        Reflect.apply(
          Reflect.get(target, method) as (...values: readonly unknown[]) => unknown,
          target,
          input,
        );

      expect(set(spec, 'toolContext')).to.throw(InvalidArgumentError, `toolContext(…): ${message}`);
      expect(set(builder(), 'defaultToolContext')).to.throw(
        InvalidArgumentError,
        `toolContext(…): ${message}`,
      );
    });
  }

  it("accepts only values of the key's type", () => {
    spec.toolContext(TENANT, 'acme').toolContext(LIMIT, 1);
    // @ts-expect-error the value of this key is a text
    spec.toolContext(TENANT, 7);
    // @ts-expect-error the value of this key is a number
    builder().defaultToolContext(LIMIT, '7');
    // @ts-expect-error there is no value
    expect(() => spec.toolContext(LIMIT)).to.throw(InvalidArgumentError);
  });

  it('accepts names of Object.prototype', async () => {
    const { tool, contexts } = spy();
    const key = new ContextKey<string>('__proto__', 'none');

    await ChatClient.create(callsSpy())
      .prompt('?')
      .tools(tool)
      .toolContext(key, 'mine')
      .call()
      .content();
    await ChatClient.create(callsSpy()).prompt('?').tools(tool).call().content();

    expect(contexts.map(({ get }) => get(key))).to.deep.equal(['mine', 'none']);
    expect(contexts.map(({ get }) => get(new ContextKey<unknown>('toString')))).to.deep.equal([
      undefined,
      undefined,
    ]);
  });
});
