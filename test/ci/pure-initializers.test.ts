import { expect } from 'chai';
import { build, stop } from 'esbuild';

const { withPureInitializers } = (await import(
  new URL('../../.ci/pure-initializers.mjs', import.meta.url).href
)) as { readonly withPureInitializers: (fileName: string, code: string) => string };

const marked = (code: string): string => withPureInitializers('chunk.js', code);

/** Bundle of an application that uses `used` of a chunk alone. */
async function bundled(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: "import { used } from 'chunk'; used();" },
    plugins: [
      {
        name: 'chunk',
        setup: (resolver) => {
          resolver.onResolve({ filter: /^chunk$/ }, ({ path }) => ({ path, namespace: 'chunk' }));
          resolver.onLoad({ filter: /.*/, namespace: 'chunk' }, () => ({ contents: code }));
        },
      },
    ],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

describe('pure initializers of a chunk', () => {
  after(() => stop());

  it('leave the bundle of an application that does not use them', async () => {
    const code = marked(`
      const table = new Map(Object.entries({ 'a-key': [...'a-text'] }));
      const byName = { ...Object.fromEntries(table) };
      const words = String.raw\`a-word\`.split('|').map((word) => word.trim());
      class Store { static limits = Object.freeze({ size: words.length }); }
      export let other = class { static all = [table, Store].flat(); };
      export const used = () => console.log('a-log');
    `);

    expect(await bundled(code)).to.match(/^var (\w)=\(\)=>console\.log\("a-log"\);\1\(\);\n$/);
  });

  it('have the values that they had', async () => {
    const code = marked(`
      const half = [1, 2].map((n) => n / 2), named = () => 'é😀', size = named().length;
      export class Part { static own = Part.name; static me = [this].length; #own = half; }
      const later = await Promise.resolve(half.length);
      export default [...half, named(), named.name, size, Part.own, Part.me, later];
    `);
    const { default: values } = (await import(
      `data:text/javascript,${encodeURIComponent(code)}`
    )) as { readonly default: unknown };

    expect(values).to.deep.equal([0.5, 1, 'é😀', 'named', 3, 'Part', 1, 2]);
  });

  it('are on the lines of before, and nothing else is marked', () => {
    const code = `const rules = [\n  rule('a'),\n];\nregister(rules);\nconst text = 'a', run = () => rule('b');\n`;

    expect(marked(code)).to.equal(
      `const rules = /* @__PURE__ */ (() => [\n  rule('a'),\n])();\nregister(rules);\nconst text = 'a', run = () => rule('b');\n`,
    );
  });
});
