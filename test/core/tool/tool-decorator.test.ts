import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { z } from 'zod';
import { ChatClient, Tool, ToolError, toolsFrom, type ToolContext } from '../../../src/index.js';
import type { ToolMethodOptions } from '../../../src/core/tool/tool-decorator.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import * as orders from '../../fixtures/decorators/orders.js';
import { RUNS } from '../../support/modes.js';
import { isFullSweep } from '../../support/sweep.js';
import { runBatch } from '../../support/batch.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const names = (tools: readonly Tool[]): string[] => tools.map(({ definition }) => definition.name);

/** The results of the fixture's tools. */
async function answers(tools: readonly Tool[]): Promise<Readonly<Record<string, unknown>>> {
  const { contents } = await runBatch(
    tools,
    names(tools).map((name) => ({ name, args: { thing: 'lamps' } })),
  );
  return Object.fromEntries(names(tools).map((name, at) => [name, contents[at]]));
}

/** The fixture as the compiler makes it. */
async function compiled(): Promise<typeof orders> {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-decorators-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        outDir: folder,
        rootDir: root,
        declaration: false,
        declarationMap: false,
        sourceMap: false,
      },
      include: [],
      files: [join(root, 'test/fixtures/decorators/orders.ts')],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder],
      {
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Error(stdout);
    return (await import(
      pathToFileURL(join(folder, 'test/fixtures/decorators/orders.js')).href
    )) as typeof orders;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const builds: Readonly<Record<string, () => Promise<typeof orders>>> = {
  tsx: async () => orders,
  // the compiler takes seconds
  ...(isFullSweep() && { tsc: compiled }),
};
for (const [builder, load] of Object.entries(builds)) {
  describe(`@Tool and toolsFrom, compiled by ${builder}`, function () {
    this.timeout(60_000);
    let built: typeof orders;
    before(async () => {
      built = await load();
    });

    it('[TOL-12] make tools of methods: public, private, without arguments, static', async () => {
      expect(await answers(built.stock('Rome'))).to.deep.equal({
        count: 'lamps in Rome: 5',
        where: 'Rome',
        hidden: 'Rome call_3',
        about: 'about Stock',
      });
    });

    it('[TOL-07] include inherited methods, and overrides in place of overridden ones', async () => {
      const tools = built.shop('Oslo');

      expect(await answers(tools)).to.deep.equal({
        count: 'nothing in Oslo',
        where: 'the shop in Oslo',
        hidden: 'Oslo call_3',
        about: 'about Shop',
      });
      expect(tools[0]).to.deep.include({ metadata: { returnDirect: true, deferred: false } });
      expect(tools[0]?.definition).to.have.property('description', 'Counts in a shop.');
    });

    it('return the static tools of a class', async () => {
      expect(await answers(built.statics())).to.deep.equal({ about: 'about Shop' });
    });

    it('separate objects of the same class', async () => {
      const [one, two] = [built.stock('Rome'), built.stock('Oslo')];

      expect([await answers(one), await answers(two)].map(({ where }) => where)).to.deep.equal([
        'Rome',
        'Oslo',
      ]);
    });
  });
}

describe('@Tool', () => {
  it('[TOL-22] uses the name of the method and its words', () => {
    class Weather {
      @Tool()
      getCurrentWeather(): string {
        return 'sun';
      }
    }

    expect(toolsFrom(new Weather())[0]?.definition).to.deep.equal({
      name: 'getCurrentWeather',
      description: 'get current weather',
      inputSchema: { type: 'object', properties: {} },
    });
  });

  it('[TOL-06] can be part of a custom decorator', async () => {
    const Read = (options: ToolMethodOptions): ReturnType<typeof Tool> =>
      Tool({ effect: 'read', timeout: 1_000, ...options });
    class Files {
      @Read({ description: 'Reads a file.' })
      read(): string {
        return 'text';
      }
    }
    const [tool] = toolsFrom(new Files());

    expect(tool?.metadata).to.deep.equal({
      returnDirect: false,
      deferred: false,
      timeout: 1_000,
      effect: 'read',
    });
    expect(tool?.definition.description).to.equal('Reads a file.');
  });

  it('[TOL-11] validates arguments before the method runs', async () => {
    const seen: unknown[] = [];
    class Trips {
      @Tool({ input: z.object({ city: z.string(), days: z.number().default(3) }) })
      book(args: { city: string; days: number }): string {
        seen.push(args);
        return 'booked';
      }
    }
    const tools = toolsFrom(new Trips());
    const { contents } = await runBatch(tools, [
      { name: 'book', args: { city: 'Rome' } },
      { name: 'book', args: { city: 7 } },
      { name: 'book', args: 'Rome' },
    ]);

    expect(seen).to.deep.equal([{ city: 'Rome', days: 3 }]);
    expect(contents[1]).to.match(/arguments of "book" are not valid/);
    expect(contents[2]).to.match(/arguments of "book" are not valid/);
  });

  for (const [mode, run] of RUNS) {
    it(`[TOL-13] passes the tool context to a method (${mode})`, async () => {
      class User {
        @Tool({ returnDirect: true })
        whoami(_args: object, { values }: ToolContext): string {
          return String(values['user']);
        }
      }
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'whoami', arguments: {} }] }]);

      expect(
        await run(
          ChatClient.create(model)
            .prompt('User?')
            .tools(toolsFrom(new User()))
            .toolContext({ user: 'Anna' }),
        ),
      ).to.equal('Anna');
    });
  }

  it('sends a ToolError of a method to the model', async () => {
    class Broken {
      @Tool()
      fail(): never {
        throw new ToolError('not today');
      }
    }

    expect((await runBatch(toolsFrom(new Broken()), ['fail'])).contents).to.deep.equal([
      'not today',
    ]);
  });

  it('emits the items of a generator method', async () => {
    class Steps {
      @Tool()
      async *steps(): AsyncGenerator<string> {
        yield 'one';
        yield 'two';
      }
    }

    expect((await runBatch(toolsFrom(new Steps()), ['steps'])).contents).to.deep.equal(['two']);
  });

  it('accepts a method named by a symbol, if the tool has a name', async () => {
    const key = Symbol('key');
    class Keyed {
      @Tool({ name: 'keyed' })
      [key](): string {
        return 'found';
      }
    }

    expect((await runBatch(toolsFrom(new Keyed()), ['keyed'])).contents).to.deep.equal(['found']);
    expect(() => {
      class Unnamed {
        @Tool()
        [key](): string {
          return 'lost';
        }
      }
      return Unnamed;
    }).to.throw(/@Tool: name must be 1 to 64 letters/);
  });

  it('rejects invalid options when the class is defined', () => {
    const define = (options: ToolMethodOptions) => (): unknown => {
      class Wrong {
        @Tool(options)
        method(): string {
          return '';
        }
      }
      return Wrong;
    };

    expect(define({ name: 'no blanks' })).to.throw(/@Tool: name must be 1 to 64/);
    expect(define({ timeout: 0 })).to.throw(/tool "method": timeout must be/);
    expect(define({ retries: 1 })).to.throw(/tool "method": retries needs the effect/);
    expect(define({ parameters: {} } as ToolMethodOptions)).to.throw(
      /there is no option `parameters`; use `input`/,
    );
  });

  it('rejects everything but methods', () => {
    const on =
      (context: object | string): (() => void) =>
      () =>
        void Reflect.apply(Tool(), undefined, [() => undefined, context]);

    expect(on({ kind: 'getter', name: 'size' })).to.throw(/for methods; it was used on a getter/);
    expect(on({ kind: 'field', name: 'size' })).to.throw(/for methods; it was used on a field/);
    expect(on({ kind: 'class', name: 'A' })).to.throw(/for methods; it was used on a class/);
    expect(on('method')).to.throw(/a legacy decorator: turn experimentalDecorators off/);
  });
});

describe('toolsFrom', () => {
  class Undecorated {
    method(): string {
      return '';
    }
  }

  it('[TOL-02] rejects an object without a decorated method, with a hint', () => {
    expect(() => toolsFrom(new Undecorated())).to.throw(
      /no method of Undecorated is decorated with @Tool\(\{ … \}\); pass plain functions/,
    );
    expect(() => toolsFrom({})).to.throw(/no method of Object is decorated/);
    expect(() => toolsFrom(Object.create(null) as object)).to.throw(
      /no method of Object is decorated/,
    );
  });

  it('rejects a class whose tools need an object', () => {
    class Decorated {
      @Tool()
      method(): string {
        return '';
      }
    }

    expect(() => toolsFrom(Decorated)).to.throw(
      /has no static method decorated .*; for instance methods pass an object: toolsFrom\(new Decorated/,
    );
  });

  for (const value of [undefined, null, 'text', 7]) {
    it(`rejects ${String(value)}`, () => {
      expect(() => toolsFrom(value as unknown as object)).to.throw(
        /toolsFrom: the target must be an object whose methods are decorated/,
      );
    });
  }

  it('[F23] rejects two static tools with the same name, also of a base class', () => {
    class Twice {
      @Tool({ name: 'same' })
      static a(): string {
        return '';
      }
      @Tool({ name: 'same' })
      static b(): string {
        return '';
      }
    }
    class Base {
      @Tool({ name: 'same' })
      static a(): string {
        return '';
      }
    }
    class Derived extends Base {
      @Tool({ name: 'same' })
      static b(): string {
        return '';
      }
    }

    for (const target of [Twice, Derived])
      expect(() => toolsFrom(target)).to.throw(/two tools have the same name: same/);
  });

  it('[TOL-07] returns a renamed static override once', () => {
    class Base {
      @Tool({ name: 'old' })
      static a(): string {
        return 'base';
      }
    }
    class Derived extends Base {
      @Tool({ name: 'new' })
      static override a(): string {
        return 'derived';
      }
    }

    expect(toolsFrom(Derived).map(({ definition }) => definition.name)).to.deep.equal(['new']);
  });

  it('[F23] rejects two tools with the same name', () => {
    class Twice {
      @Tool({ name: 'same' })
      a(): string {
        return '';
      }
      @Tool({ name: 'same' })
      b(): string {
        return '';
      }
    }

    expect(() => toolsFrom(new Twice())).to.throw(/two tools have the same name: same/);
  });
});
