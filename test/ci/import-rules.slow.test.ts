import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const checker = fileURLToPath(new URL('../../.ci/import-rules.mjs', import.meta.url));

/** Runs the checker over one file of this content. */
function check(path: string, code: string): { code: number | null; printed: string } {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-imports-'));
  try {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), code);
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
    'an import against the direction': [
      'src/chat/a.ts',
      "import { b } from '../tool/b.js';",
      'chat may import errors, internal, chat; not tool',
    ],
    'a type import against the direction': [
      'src/chat/a.ts',
      "import type { B } from '../client/b.js';",
      'chat may import errors, internal, chat; not client',
    ],
    'a dynamic import against the direction': [
      'src/memory/a.ts',
      "const b = await import('../advisor/b.js');",
      'memory may import errors, internal, chat, observation; not advisor',
    ],
    'one shelf that imports another': [
      'src/models/openai/a.ts',
      "import { b } from '../../memory-repositories/b.js';",
      'not memory-repositories',
    ],
    'an advisor that imports the client': [
      'advisors/a.ts',
      "import { b } from '../src/client/b.js';",
      'not client',
    ],
    'an advisor that imports another one': [
      'advisors/a.ts',
      "import { b } from './b.js';",
      'advisors do not import one another',
    ],
    'rxjs outside of its one file': [
      'src/chat/a.ts',
      "import { map } from 'rxjs';",
      'only src/internal/rxjs.ts imports rxjs',
    ],
    'Node.js in the core': ['src/client/a.ts', "import 'node:fs';", 'may import node:'],
    'the package by its own name': [
      'src/testing/a.ts',
      "import { b } from 'advisor-chain';",
      'imports its own package by name',
    ],
    'a folder without a row': ['src/new/a.ts', "import './b.js';", 'has no row'],
  };
  for (const [title, [path, code, rule]] of Object.entries(broken))
    it(`refuse ${title}`, () => {
      const { code: status, printed } = check(path, code);

      expect(printed).to.include(path).and.to.include(rule);
      expect(status).to.equal(1);
    });

  it('accept an import of a lower concept', () => {
    expect(check('src/tool/a.ts', "import { b } from '../chat/b.js';").code).to.equal(0);
  });
});
