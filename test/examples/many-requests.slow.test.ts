import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the program with a file of results; `stopAt` is a line at which it gets Ctrl-C. */
async function run(file: string, stopAt?: string): Promise<string> {
  const words = ['--import', 'tsx', 'examples/many-requests.ts', file];
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += String(chunk);
    if (stopAt !== undefined && text.includes(stopAt)) child.kill('SIGINT');
  }
  return text;
}

describe('examples/many-requests.ts', function () {
  this.timeout(60_000);
  this.slow(20_000);

  it('resumes after Ctrl-C, and asks for no record twice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'many-requests-'));
    const file = join(folder, 'results.jsonl');
    const ids = (): readonly number[] =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { readonly id: number }).id);
    try {
      const first = await run(file, '100/500');
      const before = ids().length;
      const second = await run(file);

      expect(first).to.include(`${before} of 500, 0 failed`).and.include(`resume with ${file}`);
      expect(before).to.be.within(100, 499);
      expect(second).to.include(`resumed after ${before}`);
      expect(second).to.include('500 of 500, 0 failed, cost 0.1100: finished');
      expect(new Set(ids()).size).to.equal(500);
      expect(ids()).to.have.lengthOf(500);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
