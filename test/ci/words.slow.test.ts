import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const checker = fileURLToPath(new URL('../../.ci/words.mjs', import.meta.url));

/** Runs the checker in a repository with one file. */
function check(text: string, file = 'a.ts'): { status: number | null; stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-words-'));
  try {
    spawnSync('git', ['init', '--quiet'], { cwd: folder });
    writeFileSync(join(folder, file), text);
    return spawnSync(process.execPath, [checker, file], { cwd: folder, encoding: 'utf8' });
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
    'a relative clause in place of an adjective': ['// a turn that goes on', 'goes on'],
    'a pronoun in place of a noun': ['// the limit is that of the model', 'that of'],
    'a pronoun in place of nouns': ['// the fields are those of the request', 'those of'],
    'an image in place of a verb': ['// the summary stands for old turns', 'stands for'],
    'a negated noun in place of a verb': ['// it is no step of the turn', 'is no step of'],
    'a negated possession': ['// an open step is none of its own', 'none of its own'],
    'an image in a name': ['const lastRung = 1;', 'Rung'],
    'an image in a verb': ['ladder.climb();', 'climb'],
    'an image in a camelCase name': ['const mayLand = true;', 'Land'],
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

  describe('of the lines of a page', () => {
    const words = (length: number): string => 'word '.repeat(length / 5).trim() + '.';

    it('refuses a text line of 160 characters and a table row of more than 300', () => {
      const { status, stderr } = check(`${words(160)}\n\n| ${words(300)} |\n`, 'README.md');

      expect(stderr).to.include('README.md:1: 160 characters: wrap text before 160');
      expect(stderr).to.include('README.md:3: 304 characters: shorten the cells of the table');
      expect(stderr).to.include('2 lines to shorten');
      expect(status).to.equal(1);
    });

    it('accepts a shorter line, code of any length, and other files', () => {
      const page = `${words(155)}\n\n| ${words(295)} |\n\n\`\`\`ts\n// ${words(400)}\n\`\`\`\n`;

      expect(check(page, 'README.md').stderr).to.equal('');
      expect(check(`// ${words(400)}\n`).stderr).to.equal('');
    });
  });
});
