import { expect } from 'chai';
import { of } from 'rxjs';
import { z } from 'zod';
import { assert as check, property, array, string, uniqueArray } from 'fast-check';
import {
  agentTool,
  augmentTools,
  ChatClient,
  defineTool,
  defineToolProvider,
  filterTools,
  pinTools,
  prefixTools,
  renameTools,
  Tool as ToolMethod,
  toolResult,
  toolsFrom,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { flattenTools } from '../../../src/core/tool/check-tool.js';
import { MODES, runSpec } from '../../support/modes.js';

const tool = (name: string): Tool =>
  defineTool({ name, description: `Does ${name}.`, execute: () => name, returnDirect: true });
const names = (tools: readonly Tool[]): string[] => tools.map(({ definition }) => definition.name);
const portableName = string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 64 }).map((text) =>
  text.replaceAll(/[^a-zA-Z0-9_-]/g, 'x').replace(/^(?:__proto__|constructor|prototype)$/, 'x'),
);

/** A tool as a class makes it: its methods come from the prototype, and need `this`. */
class Counter implements Tool {
  readonly definition = {
    name: 'count',
    description: 'Counts.',
    inputSchema: { type: 'object', properties: {} },
  };
  readonly metadata = { returnDirect: true };
  #count = 0;
  validate(args: unknown): { readonly value: unknown } {
    this.#count += 10;
    return { value: args };
  }
  call(): number {
    return ++this.#count;
  }
  toContent(value: unknown): string {
    return `${this.#count}/${String(value)}`;
  }
}

class Orders {
  @ToolMethod()
  cancel(): void {}
}

describe('the name of a tool', () => {
  const agent = agentTool(ChatClient.create(new ScriptedChatModel([])), { name: 'agent' });
  const made = [tool('search'), agent, ...toolsFrom(new Orders())];
  const all: readonly Tool[] = [...made, new Counter()];
  const provider = pinTools(prefixTools(all, 'p_'), { pins: new Map() });
  const changed: Readonly<Record<string, () => readonly Tool[] | Promise<readonly Tool[]>>> = {
    'as it was made': () => made,
    'with a prefix': () => prefixTools(all, 'web_'),
    renamed: () => renameTools(all, (name) => `my_${name}`),
    'renamed twice': () => renameTools(prefixTools(all, 'web_'), (name) => `my_${name}`),
    augmented: () => augmentTools(prefixTools(all, 'a_'), z.object({ why: z.string() }), () => 0),
    pinned: async () => flattenTools([await provider.tools({} as never)], 'test'),
  };
  for (const [title, source] of Object.entries(changed))
    it(`is the one of its definition, ${title}`, async () => {
      const tools = await source();

      expect(tools).to.have.lengthOf.greaterThan(2);
      expect(tools.map(({ name }) => name)).to.deep.equal(names(tools));
    });

  it('may be missing on a tool that is written by hand', async () => {
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'count', arguments: {} }] }]);
    const client = ChatClient.builder(model).defaultTools(new Counter()).build();

    expect(await client.prompt('Go.').call().content()).to.equal('11/11');
  });
});

describe('prefixTools', () => {
  it('puts a prefix before the names and keeps everything else', () => {
    const search = tool('search');
    const [prefixed] = prefixTools([search], 'web_');

    expect(prefixed?.definition).to.deep.equal({ ...search.definition, name: 'web_search' });
    expect(prefixed?.metadata).to.deep.equal(search.metadata);
  });

  for (const mode of MODES)
    it(`[D34] renames the tools that a result unlocks or locks (${mode})`, async () => {
      const results: Readonly<Record<string, unknown>> = {
        plain: toolResult({ content: 'ok', unlocks: ['hidden', 'other'] }),
        promise: Promise.resolve(toolResult({ content: 'ok', unlocks: ['hidden'] })),
        generator: (function* () {
          yield 'half';
          yield toolResult({ content: 'ok', unlocks: ['hidden'] });
        })(),
        observable: of('half', toolResult({ content: 'ok', unlocks: ['hidden'] })),
      };
      for (const value of Object.values(results)) {
        const open = defineTool({ name: 'open', execute: () => value });
        const close = defineTool({
          name: 'close',
          execute: () => toolResult({ content: 'ok', locks: ['hidden'] }),
        });
        const hidden = defineTool({ name: 'hidden', deferred: true, execute: () => 'ran' });
        const model = new ScriptedChatModel([
          { toolCalls: [{ name: 'b_a_open' }] },
          { toolCalls: [{ name: 'b_a_hidden' }, { name: 'b_a_close' }] },
          'Done.',
        ]);
        const inner = renameTools(prefixTools([open, close, hidden], 'a_'), {
          a_open: 'a_open_it',
        });
        const tools = prefixTools(renameTools(inner, { a_open_it: 'a_open' }), 'b_');
        await runSpec(mode, ChatClient.create(model).prompt('?').tools(tools));

        const offered = model.prompts.map(({ options }) =>
          options.tools?.map(({ definition }) => definition.name),
        );
        expect(offered).to.deep.equal([
          ['b_a_open', 'b_a_close'],
          ['b_a_open', 'b_a_close', 'b_a_hidden'],
          ['b_a_open', 'b_a_close'],
        ]);
      }
    });

  it('accepts nested lists, in order', () => {
    expect(names(prefixTools([tool('a'), [tool('b'), [tool('c')]]], 'p_'))).to.deep.equal([
      'p_a',
      'p_b',
      'p_c',
    ]);
  });

  it('runs methods on the original object', async () => {
    const [prefixed] = prefixTools([new Counter()], 'my_');
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'my_count', arguments: {} }] }]);

    const text = await ChatClient.create(model)
      .prompt('Count.')
      .tools(prefixed as Tool)
      .call()
      .content();

    expect(text).to.equal('11/11');
  });

  it('changes the tools of a provider each time it runs', async () => {
    let asked = 0;
    const provider = defineToolProvider({
      name: 'server',
      timeout: 5_000,
      tools: () => [tool(`tool${++asked}`)],
    });
    const prefixed = prefixTools(provider, 's_');
    const model = new ScriptedChatModel(() => 'Yes.');

    for (let turn = 0; turn < 2; turn++)
      await ChatClient.create(model).prompt('Go.').tools(prefixed).call().content();

    expect(
      model.prompts.map(({ options }) => names(options.tools as readonly Tool[])),
    ).to.deep.equal([['s_tool1'], ['s_tool2']]);
    expect(prefixed).to.include({ name: 'server', timeout: 5_000 });
  });

  it('[F24] truncates long names deterministically', () => {
    const long = 'a'.repeat(60);
    const [cut = ''] = names(prefixTools([tool(long)], 'server_'));

    expect(cut).to.have.lengthOf(64);
    expect(cut).to.equal(`server_${'a'.repeat(48)}_${cut.slice(-8)}`);
    expect(names(prefixTools([tool(long), tool('b')], 'server_'))[0]).to.equal(cut);
  });

  it('[F23] distinguishes names with a long common beginning', () => {
    const [one, two] = names(
      prefixTools([tool(`${'a'.repeat(60)}1`), tool(`${'a'.repeat(60)}2`)], 'server_'),
    );

    expect(one).not.to.equal(two);
  });

  it('[F23] [F24] produces unique portable names, or rejects the tools', () => {
    check(
      property(
        uniqueArray(portableName, { minLength: 1, maxLength: 12 }),
        portableName,
        (given, prefix) => {
          const prefixed = names(prefixTools(given.map(tool), prefix));
          expect(new Set(prefixed).size).to.equal(given.length);
          for (const name of prefixed) expect(name).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
        },
      ),
      { numRuns: 500 },
    );
  });

  for (const prefix of ['', 'a.b', 'ü', ' ', 'x'.repeat(65), 7 as unknown as string]) {
    it(`[F24] rejects the prefix ${JSON.stringify(prefix)}`, () => {
      expect(() => prefixTools([tool('a')], prefix)).to.throw(
        /prefixTools: prefix must be 1 to 64 letters/,
      );
    });
  }

  it('rejects other values than tools', () => {
    expect(() => prefixTools([{} as Tool], 'a_')).to.throw(/prefixTools: expected a tool/);
  });
});

describe('renameTools', () => {
  it('renames by old names, and keeps the others', () => {
    const kept = tool('kept');
    const renamed = renameTools([tool('send'), kept], { send: 'send_mail' });

    expect(names(renamed)).to.deep.equal(['send_mail', 'kept']);
    expect(renamed[1]).to.deep.include({ definition: kept.definition, metadata: kept.metadata });
    expect(renameTools([kept], { kept: 'kept' })).to.deep.equal([kept]);
  });

  it('can swap names', () => {
    expect(names(renameTools([tool('a'), tool('b')], { a: 'b', b: 'a' }))).to.deep.equal([
      'b',
      'a',
    ]);
  });

  it('accepts a function', () => {
    expect(names(renameTools([tool('a'), tool('b')], (name) => `${name}${name}`))).to.deep.equal([
      'aa',
      'bb',
    ]);
  });

  it('rejects an unknown name, and lists the known ones', () => {
    expect(() => renameTools([tool('send'), tool('read')], { sned: 'x' })).to.throw(
      /there is no tool sned; the tools are send, read/,
    );
  });

  it('[F17] ignores names of Object.prototype', () => {
    expect(names(renameTools([tool('valueOf'), tool('toString')], {}))).to.deep.equal([
      'valueOf',
      'toString',
    ]);
  });

  it('[F23] rejects two tools with the same name, and names both', () => {
    expect(() => renameTools([tool('a'), tool('b')], { a: 'b' })).to.throw(
      /the tools "a" and "b" would both have the name "b"/,
    );
  });

  for (const name of ['', 'a.b', 'ö', 'x'.repeat(65), 7 as unknown as string]) {
    it(`[F24] rejects the new name ${JSON.stringify(name)}`, () => {
      expect(() => renameTools([tool('a')], { a: name })).to.throw(
        /the new name of the tool "a" must be 1 to 64/,
      );
    });
  }

  it('rejects invalid names', () => {
    expect(() => renameTools([tool('a')], null as unknown as Record<string, string>)).to.throw(
      /names must be \{ old: 'new' \}/,
    );
  });
});

describe('filterTools', () => {
  it('keeps the named tools, in their own order', () => {
    expect(names(filterTools([tool('a'), tool('b'), tool('c')], ['c', 'a']))).to.deep.equal([
      'a',
      'c',
    ]);
  });

  it('keeps the tools that a function accepts', () => {
    expect(
      names(
        filterTools(
          [tool('a'), tool('b')],
          ({ definition }) => definition.description === 'Does b.',
        ),
      ),
    ).to.deep.equal(['b']);
  });

  it('rejects an unknown name', () => {
    expect(() => filterTools([tool('a')], ['b'])).to.throw(/there is no tool b; the tools are a/);
  });

  it('reports that there are no tools', () => {
    expect(() => filterTools([], ['b'])).to.throw(/there is no tool b; the tools are none/);
  });

  it('rejects other filters', () => {
    expect(() => filterTools([tool('a')], 'a' as unknown as readonly string[])).to.throw(
      /filter must be an array of names or a function/,
    );
  });

  it('keeps a subset of the tools, unchanged', () => {
    check(
      property(
        uniqueArray(portableName, { maxLength: 10 }),
        array(portableName),
        (given, wanted) => {
          const tools = given.map(tool);
          const kept = filterTools(tools, ({ definition }) => wanted.includes(definition.name));
          expect(kept).to.deep.equal(
            tools.filter(({ definition }) => wanted.includes(definition.name)),
          );
        },
      ),
    );
  });
});
