import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const read = (path: string): Record<string, unknown> =>
  JSON.parse(textOf(path)) as Record<string, unknown>;

/** Network, streams, bytes, keys, copies, languages and classes of Unicode, as a version of Node.js has them. */
const PLATFORM =
  /from 'node:|\bfetch\(|ReadableStream|AbortSignal\.|Text(?:En|De)coder|\bcrypto\.|structuredClone|\bIntl\.|\\p\{/;

/** Sources that use the platform. */
function platformSources(): readonly string[] {
  const sources = ['src', 'advisors'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true }).map(
      (path) => `${folder}/${String(path)}`,
    ),
  );
  return sources.filter((path) => path.endsWith('.ts') && PLATFORM.test(textOf(path)));
}

describe('test runs', () => {
  it('[D39] use all cores while tests wait, and leave the slow files to a run of their own', () => {
    expect(read('.mocharc.json')).to.include({ parallel: true, jobs: 3 });
    expect(read('.mocharc.json')).to.have.deep.property('ignore', ['test/**/*.slow.test.ts']);
    expect(read('.mocharc.slow.json')).to.have.deep.property('spec', ['test/**/*.slow.test.ts']);
  });

  it('on other versions of Node.js have the tests of each source that uses the platform', () => {
    const { spec, ...settings } = read('.mocharc.platform.json');
    const prefixes = (spec as readonly string[]).map((path) => path.replace(/\*.*/, ''));
    const tests = platformSources().map((path) => `test/${path.replace(/^src\/|\.ts$/g, '')}`);

    const missing = tests.filter((test) => !prefixes.some((prefix) => test.startsWith(prefix)));
    const { spec: _, ...fast } = read('.mocharc.json');
    expect(tests).to.include.members(['test/models/http/body-reader', 'test/advisors/guard/fold']);
    expect(missing).to.deep.equal([]);
    expect(settings).to.deep.equal(fast);
  });
});
