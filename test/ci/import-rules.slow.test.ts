import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const checker = fileURLToPath(new URL('../../.ci/import-rules.mjs', import.meta.url));

/** Runs the checker over one file of this content, beside others. */
function check(
  path: string,
  code: string,
  others: Readonly<Record<string, string>> = {},
): { code: number | null; printed: string } {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-imports-'));
  try {
    for (const [each, content] of Object.entries({ ...others, [path]: code })) {
      mkdirSync(dirname(join(folder, each)), { recursive: true });
      writeFileSync(join(folder, each), content);
    }
    const { status, stderr } = spawnSync(process.execPath, [checker, folder], { encoding: 'utf8' });
    return { code: status, printed: stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('import rules', () => {
  it('hold in this repository', () => {
    const { status, stderr } = spawnSync(process.execPath, [checker], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      encoding: 'utf8',
    });

    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  });

  const broken: Readonly<Record<string, readonly [path: string, code: string, rule: string]>> = {
    'an import against the direction of the core': [
      'src/core/chat/a.ts',
      "import { b } from '../tool/b.js';",
      'core/chat may import errors, internal of core; not core/tool',
    ],
    'a type import against the direction': [
      'src/core/chat/a.ts',
      "import type { B } from '../client/b.js';",
      'not core/client',
    ],
    'a type that is imported where it is used': [
      'src/core/chat/a.ts',
      "export const b: import('../client/b.js').B = 1;",
      'not core/client',
    ],
    'a dynamic import against the direction': [
      'src/core/chat/a.ts',
      "const b = await import('../advisor/b.js');",
      'not core/advisor',
    ],
    'a core that knows a wing': [
      'src/core/chat/a.ts',
      "import type { B } from '../../stores/key-value/b.js';",
      'core may import no other wing; not stores',
    ],
    'a wing that imports another one': [
      'src/models/openai/a.ts',
      "import { b } from '../../bridges/mcp/b.js';",
      'models may import core, stores; not bridges',
    ],
    'one wire that imports another': [
      'src/models/openai/a.ts',
      "import { b } from '../google/b.js';",
      'models/openai may import http of models; not models/google',
    ],
    'an advisor that imports another one': [
      'advisors/a-advisor.ts',
      "import { b } from './b/b.js';",
      'advisors do not import one another',
    ],
    'an entry that a room imports': [
      'advisors/a-advisor.ts',
      "import { ChatClient } from '../src/index.js';",
      'no room imports an entry',
    ],
    'rxjs outside of its one file': [
      'src/core/chat/a.ts',
      "import { map } from 'rxjs';",
      'only src/core/internal/rxjs.ts imports rxjs',
    ],
    'Node.js in the core': ['src/core/client/a.ts', "import 'node:fs';", 'may import node:'],
    'the package by its own name': [
      'src/testing/a.ts',
      "import { b } from 'advisor-chain';",
      'imports its own package by name',
    ],
    'a wing without a row': ['src/new/a.ts', "import './b.js';", 'has no row'],
  };
  for (const [title, [path, code, rule]] of Object.entries(broken))
    it(`refuse ${title}`, () => {
      const { code: status, printed } = check(path, code);

      expect(printed).to.include(path).and.to.include(rule);
      expect(status).to.equal(1);
    });

  it('accept an import of a lower concept', () => {
    expect(check('src/core/tool/a.ts', "import { b } from '../chat/b.js';").code).to.equal(0);
  });

  it('accept the door of a store, and refuse what is behind it', () => {
    const store = {
      'src/stores/key-value/door.ts': '',
      'src/stores/key-value/b.ts': "import 'pg';",
    };
    const advisor = (name: string): string =>
      `import { b } from '../src/stores/key-value/${name}.js';`;

    expect(check('advisors/a-advisor.ts', advisor('door'), store).code).to.equal(0);
    expect(check('advisors/a-advisor.ts', advisor('b'), store).printed).to.include(
      'src/stores/key-value/b.ts needs a package or Node.js: only entries import it',
    );
  });
});
