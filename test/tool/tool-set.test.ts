import { expect } from 'chai';
import { assert as check, property, array, string, uniqueArray } from 'fast-check';
import { ChatClient, defineTool, defineToolProvider, filterTools, prefixTools, renameTools, type Tool } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';

const tool = (name: string): Tool => defineTool({ name, description: `Does ${name}.`, execute: () => name, returnDirect: true });
const names = (tools: readonly Tool[]): string[] => tools.map(({ definition }) => definition.name);
const portableName = string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 64 }).map((text) => text.replaceAll(/[^a-zA-Z0-9_-]/g, 'x'));

/** A tool as a class makes it: its methods are those of the prototype, and need `this`. */
class Counter implements Tool {
  readonly definition = { name: 'count', description: 'Counts.', inputSchema: { type: 'object', properties: {} } };
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

describe('prefixTools', () => {
  it('puts a prefix before the names and keeps everything else', () => {
    const search = tool('search');
    const [prefixed] = prefixTools([search], 'web_');

    expect(prefixed?.definition).to.deep.equal({ ...search.definition, name: 'web_search' });
    expect(prefixed?.metadata).to.deep.equal(search.metadata);
  });

  it('takes lists within lists, in order', () => {
    expect(names(prefixTools([tool('a'), [tool('b'), [tool('c')]]], 'p_'))).to.deep.equal(['p_a', 'p_b', 'p_c']);
  });

  it('goes on to run on the object that a tool is', async () => {
    const [prefixed] = prefixTools([new Counter()], 'my_');
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'my_count', arguments: {} }] }]);

    const text = await ChatClient.create(model)
      .prompt('Count.')
      .tools(prefixed as Tool)
      .call()
      .content();

    expect(text).to.equal('11/11');
  });

  it('changes the tools of a provider whenever it is asked', async () => {
    let asked = 0;
    const provider = defineToolProvider({ name: 'server', timeout: 5_000, tools: () => [tool(`tool${++asked}`)] });
    const prefixed = prefixTools(provider, 's_');
    const model = new ScriptedChatModel(() => 'Yes.');

    for (let turn = 0; turn < 2; turn++) await ChatClient.create(model).prompt('Go.').tools(prefixed).call().content();

    expect(model.prompts.map(({ options }) => names(options.tools as readonly Tool[]))).to.deep.equal([['s_tool1'], ['s_tool2']]);
    expect(prefixed).to.include({ name: 'server', timeout: 5_000 });
  });

  it('[F24] cuts a name that gets too long, the same way in every run', () => {
    const long = 'a'.repeat(60);
    const [cut = ''] = names(prefixTools([tool(long)], 'server_'));

    expect(cut).to.have.lengthOf(64);
    expect(cut).to.equal(`server_${'a'.repeat(48)}_${cut.slice(-8)}`);
    expect(names(prefixTools([tool(long), tool('b')], 'server_'))[0]).to.equal(cut);
  });

  it('[F23] tells names apart that are the same up to the cut', () => {
    const [one, two] = names(prefixTools([tool(`${'a'.repeat(60)}1`), tool(`${'a'.repeat(60)}2`)], 'server_'));

    expect(one).not.to.equal(two);
  });

  it('[F23] [F24] gives names that all providers take, one for each tool, or refuses', () => {
    check(
      property(uniqueArray(portableName, { minLength: 1, maxLength: 12 }), portableName, (given, prefix) => {
        const prefixed = names(prefixTools(given.map(tool), prefix));
        expect(new Set(prefixed).size).to.equal(given.length);
        for (const name of prefixed) expect(name).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
      }),
      { numRuns: 500 },
    );
  });

  for (const prefix of ['', 'a.b', 'ü', ' ', 'x'.repeat(65), 7 as unknown as string]) {
    it(`[F24] refuses the prefix ${JSON.stringify(prefix)}`, () => {
      expect(() => prefixTools([tool('a')], prefix)).to.throw(/prefixTools: the prefix must be 1 to 64 letters/);
    });
  }

  it('refuses what is no tool', () => {
    expect(() => prefixTools([{} as Tool], 'a_')).to.throw(/prefixTools: expected a tool/);
  });
});

describe('renameTools', () => {
  it('gives new names by old ones, and leaves the others alone', () => {
    const kept = tool('kept');
    const renamed = renameTools([tool('send'), kept], { send: 'send_mail' });

    expect(names(renamed)).to.deep.equal(['send_mail', 'kept']);
    expect(renamed[1]).to.equal(kept);
  });

  it('can swap names', () => {
    expect(names(renameTools([tool('a'), tool('b')], { a: 'b', b: 'a' }))).to.deep.equal(['b', 'a']);
  });

  it('takes a function', () => {
    expect(names(renameTools([tool('a'), tool('b')], (name) => `${name}${name}`))).to.deep.equal(['aa', 'bb']);
  });

  it('refuses a name that no tool has, and says which there are', () => {
    expect(() => renameTools([tool('send'), tool('read')], { sned: 'x' })).to.throw(/there is no tool sned; the tools are send, read/);
  });

  it('[F17] takes no name from a prototype', () => {
    expect(names(renameTools([tool('constructor'), tool('toString')], {}))).to.deep.equal(['constructor', 'toString']);
  });

  it('[F23] refuses two tools of one name, naming both', () => {
    expect(() => renameTools([tool('a'), tool('b')], { a: 'b' })).to.throw(/the tools "a" and "b" would both have the name "b"/);
  });

  for (const name of ['', 'a.b', 'ö', 'x'.repeat(65), 7 as unknown as string]) {
    it(`[F24] refuses the new name ${JSON.stringify(name)}`, () => {
      expect(() => renameTools([tool('a')], { a: name })).to.throw(/the new name of the tool "a" must be 1 to 64/);
    });
  }

  it('refuses names that are none', () => {
    expect(() => renameTools([tool('a')], null as unknown as Record<string, string>)).to.throw(/names must be \{ old: 'new' \}/);
  });
});

describe('filterTools', () => {
  it('keeps the tools with the names, in the order of the tools', () => {
    expect(names(filterTools([tool('a'), tool('b'), tool('c')], ['c', 'a']))).to.deep.equal(['a', 'c']);
  });

  it('keeps the tools that a function accepts', () => {
    expect(names(filterTools([tool('a'), tool('b')], ({ definition }) => definition.description === 'Does b.'))).to.deep.equal(['b']);
  });

  it('refuses a name that no tool has', () => {
    expect(() => filterTools([tool('a')], ['b'])).to.throw(/there is no tool b; the tools are a/);
  });

  it('says so when there are no tools at all', () => {
    expect(() => filterTools([], ['b'])).to.throw(/there is no tool b; the tools are none/);
  });

  it('refuses what is neither', () => {
    expect(() => filterTools([tool('a')], 'a' as unknown as readonly string[])).to.throw(/expected names or a function/);
  });

  it('of any tools, keeps only some of them, unchanged', () => {
    check(
      property(uniqueArray(portableName, { maxLength: 10 }), array(portableName), (given, wanted) => {
        const tools = given.map(tool);
        const kept = filterTools(tools, ({ definition }) => wanted.includes(definition.name));
        expect(kept).to.deep.equal(tools.filter(({ definition }) => wanted.includes(definition.name)));
      }),
    );
  });
});
