import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const checker = fileURLToPath(new URL('../../.ci/words.mjs', import.meta.url));

/** Runs the checker in a repository with one file. */
function check(text: string): { status: number | null; stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-words-'));
  try {
    spawnSync('git', ['init', '--quiet'], { cwd: folder });
    writeFileSync(join(folder, 'a.ts'), text);
    return spawnSync(process.execPath, [checker, 'a.ts'], { cwd: folder, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the words check', () => {
  const refused: Readonly<Record<string, readonly [text: string, word: string]>> = {
    'a banned word': ['// the model is told about it', 'told'],
    'a banned word in a camelCase name': ['const lateResults = 1;', 'late'],
    'a banned phrase': ['// turns are never written by half', 'by half'],
    'another wording of a rule': [
      "throw new Error('must be a positive integer');",
      'a positive integer',
    ],
    'a doc comment that starts with a question word': ['/** Whether it is open. */', 'Whether'],
  };
  for (const [title, [text, word]] of Object.entries(refused))
    it(`refuses ${title}, with file and line`, () => {
      const { status, stderr } = check(`\n${text}\n`);

      expect(stderr).to.include(`a.ts:2: "${word}"`);
      expect(status).to.equal(1);
    });

  it('accepts plain technical English', () => {
    const { status, stderr } = check('/** Records the template; notifies the listener later. */\n');

    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  });
});
