import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));
const oxlint = join(dirname(createRequire(import.meta.url).resolve('oxlint/package.json')), 'bin/oxlint');

interface OxlintConfig {
  options: { typeAware: boolean };
  overrides: { files: string[] }[];
}

const config = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as OxlintConfig;

/** What each place may import of ours, besides its own folder: written down a second time, so that the config cannot drift unseen. */
const BELOW_LOOP = ['src/errors', 'src/rxjs', 'src/chat', 'src/tool', 'src/memory', 'src/observability', 'src/embedding'];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'src/errors': [],
  'src/rxjs': [],
  'src/chat/a': ['src/errors', 'src/rxjs'],
  'src/tool/a': ['src/errors', 'src/rxjs', 'src/chat'],
  'src/tool/schema/a': ['src/errors', 'src/rxjs', 'src/chat', 'src/tool'],
  'src/memory/a': ['src/errors', 'src/rxjs', 'src/chat'],
  'src/observability/a': ['src/errors', 'src/rxjs', 'src/chat'],
  'src/embedding/a': ['src/errors', 'src/rxjs', 'src/chat'],
  'src/tool-search/a': BELOW_LOOP,
  'src/advisor/a': BELOW_LOOP,
  'src/client/a': [...BELOW_LOOP, 'src/tool-search', 'src/advisor'],
  'src/models/openai/a': [...BELOW_LOOP, 'src/tool-search'],
  'src/tool-indexes/a': [...BELOW_LOOP, 'src/tool-search'],
  'src/tool-indexes/keyword/a': [...BELOW_LOOP, 'src/tool-search'],
  'src/memory-repositories/a': [...BELOW_LOOP, 'src/tool-search'],
  'src/testing/a': [...BELOW_LOOP, 'src/tool-search', 'src/advisor', 'src/client'],
  'src/cli/a': ['src/index'],
  'advisors/a': [...BELOW_LOOP, 'src/tool-search', 'src/advisor'],
};

const TARGETS = [
  'src/errors',
  'src/rxjs',
  'src/index',
  ...['chat', 'tool', 'memory', 'observability', 'embedding', 'tool-search', 'advisor', 'client', 'testing'].map(
    (concept) => `src/${concept}/b`,
  ),
  'src/models/openai/b',
  'src/tool-indexes/b',
  'src/memory-repositories/b',
  'advisors/b',
];

/** Files side by side may import each other, except at the top of src and among the advisors. */
function isOwnFolder(place: string, target: string): boolean {
  if (place === target) return true;
  return dirname(place) === dirname(target) && !['src', 'advisors'].includes(dirname(place));
}

function specifier(place: string, target: string): string {
  const path = posix.relative(dirname(place), target);
  return `${path.startsWith('.') ? path : `./${path}`}.js`;
}

function isAllowed(place: string, target: string): boolean {
  return (ALLOWED[place] ?? []).some((allowed) => target === allowed || target.startsWith(`${allowed}/`));
}

/** The fixtures whose one import the rule must refuse (`message` is what it must say) or let through (no `message`). */
interface Fixture {
  readonly path: string;
  readonly code: string;
  readonly message?: string;
}

function matrix(): Fixture[] {
  return Object.keys(ALLOWED).flatMap((place) =>
    TARGETS.filter((target) => !isOwnFolder(place, target)).map((target) => ({
      path: `${place}-${target.replaceAll('/', '-')}.ts`,
      code: `import '${specifier(place, target)}';\n`,
      ...(isAllowed(place, target) ? {} : { message: 'import direction: ' }),
    })),
  );
}

const RXJS = 'import direction: only src/rxjs.ts may import rxjs';
const NODE = 'import direction: only src/testing and src/cli may import node:*';
const CHAT = 'import direction: src/chat may import only src/errors';

const SPECIAL: readonly Fixture[] = [
  { path: 'src/index.ts', code: "export * from './chat/b.js';\nexport * from '../advisors/index.js';\n" },
  { path: 'advisors/index.ts', code: "export * from './b.js';\n" },
  { path: 'src/rxjs.ts', code: "export { Observable } from 'rxjs';\n" },
  { path: 'src/testing/node.ts', code: "import 'node:fs';\n" },
  { path: 'src/cli/node.ts', code: "import 'node:fs';\n" },
  { path: 'src/chat/sibling.ts', code: "import './b.js';\n" },
  { path: 'src/chat/rxjs-itself.ts', code: "import 'rxjs';\n", message: RXJS },
  { path: 'src/testing/rxjs-part.ts', code: "import 'rxjs/testing';\n", message: RXJS },
  { path: 'advisors/rxjs-itself.ts', code: "import 'rxjs';\n", message: RXJS },
  { path: 'src/client/node.ts', code: "import 'node:fs';\n", message: NODE },
  { path: 'src/models/openai/node.ts', code: "import 'node:fs';\n", message: NODE },
  { path: 'advisors/node.ts', code: "import 'node:fs';\n", message: NODE },
  { path: 'src/rxjs-node.ts', code: "import 'node:fs';\n", message: NODE },
  { path: 'src/chat/type-import.ts', code: "import type { A } from '../client/b.js';\nexport type B = A;\n", message: CHAT },
  { path: 'src/chat/re-export.ts', code: "export * from '../client/b.js';\n", message: CHAT },
  { path: 'src/chat/dynamic.ts', code: "export const load = () => import('../client/b.js');\n", message: CHAT },
  {
    path: 'src/chat/type-query.ts',
    code: "export type A = import('../client/b.js').A;\n",
    message: '`import()` type annotations are forbidden',
  },
  { path: 'src/chat/detour.ts', code: "import './../client/b.js';\n", message: CHAT },
  {
    path: 'src/tool/detour.ts',
    code: "import '../chat/../client/b.js';\n",
    message: 'import direction: src/tool may import only src/errors',
  },
  {
    path: 'src/models/openai/detour.ts',
    code: "import '../../chat/../client/b.js';\n",
    message: 'import direction: the shelf src/models may',
  },
  { path: 'advisors/detour.ts', code: "import '../src/chat/../client/b.js';\n", message: 'import direction: advisors may import only' },
  { path: 'src/chat/by-name.ts', code: "import 'advisor-chain';\n", message: CHAT },
  { path: 'advisors/by-name.ts', code: "import 'advisor-chain/openai';\n", message: 'import direction: advisors may import only' },
  { path: 'src/newcomer/a.ts', code: "import '../chat/b.js';\n", message: 'import direction: this folder has no line' },
];

/** Runs oxlint once over all fixtures in a folder laid out like the repository; returns what it says by file. */
function lint(fixtures: readonly Fixture[]): Map<string, string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-lint-'));
  try {
    // Types play no part in these rules, and the folder has no tsconfig to take them from.
    writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify({ ...config, options: { ...config.options, typeAware: false } }));
    for (const { path, code } of fixtures) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), code);
    }
    const run = spawnSync(process.execPath, [oxlint, '--format', 'json'], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 });
    const report = JSON.parse(run.stdout) as { diagnostics: { filename: string; message: string; help?: string }[] };
    const said = new Map<string, string[]>();
    for (const { filename, message, help } of report.diagnostics) {
      const path = filename.replaceAll('\\', '/');
      said.set(path, [...(said.get(path) ?? []), `${message} ${help ?? ''}`]);
    }
    return said;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the lint rule for the import direction', function () {
  this.timeout(20_000);

  const fixtures = [...matrix(), ...SPECIAL];
  let said: Map<string, string[]>;

  before(() => {
    said = lint(fixtures);
  });

  for (const place of Object.keys(ALLOWED)) {
    it(`lets ${place.replace(/\/a$/, '')} import exactly what stands below it`, () => {
      for (const { path, code, message } of matrix().filter((fixture) => fixture.path.startsWith(`${place}-`))) {
        const found = (said.get(path) ?? []).join('\n');
        if (message === undefined) expect(found, `${path}: ${code}`).to.equal('');
        else expect(found, `${path}: ${code}`).to.include(message);
      }
    });
  }

  for (const { path, code, message } of SPECIAL) {
    it(`${message === undefined ? 'accepts' : 'refuses'} ${code.trim().split('\n')[0]} in ${path}`, () => {
      const found = (said.get(path) ?? []).join('\n');
      if (message === undefined) expect(found).to.equal('');
      else expect(found).to.include(message);
    });
  }

  it('names the folder that breaks it', () => {
    const unnamed = fixtures.filter(({ path, message }) => message === 'import direction: ' && !/^src\/(errors|rxjs)-/.test(path));
    for (const { path } of unnamed) {
      const folder = path.startsWith('advisors') ? 'advisors' : path.split('/').slice(0, 2).join('/');
      const lowest = folder === 'src/cli' ? 'src/index' : 'src/errors';
      expect((said.get(path) ?? []).join('\n'), path).to.include(`${folder} may import only ${lowest}`);
    }
  });

  it('has a line for every folder of src', () => {
    const listed = config.overrides.flatMap((override) => override.files);
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of folders)
      expect(
        listed.some((glob) => glob.startsWith(`src/${name}/`)),
        `src/${name}`,
      ).to.equal(true);
  });
});
