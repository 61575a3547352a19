import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Command } from '../../src/cli/command.js';
import { program } from '../../src/cli/commands.js';
import { helpOf } from '../../src/cli/help.js';

const PAGE = fileURLToPath(new URL('../../docs/cli.md', import.meta.url));
const BLOCK = /(<!-- help of the commands -->\n)[^]*(\n<!-- end of help -->)/;

/** The help of a command and of those below it, each with a heading. */
async function sections(command: Command, path: readonly string[]): Promise<readonly string[]> {
  const heading = path.length === 1 ? 'All commands' : path.slice(1).join(' ');
  const level = '#'.repeat(Math.min(path.length + 1, 3));
  const help = await helpOf(command, path);
  const own = `${level} ${heading}\n\n\`\`\`text\n${help}\n\`\`\``;
  const inner = Object.entries(command.commands ?? {}).map(([name, each]) =>
    sections(each, [...path, name]),
  );
  return [own, ...(await Promise.all(inner)).flat()];
}

describe('docs/cli.md', () => {
  it('has the help of each command; UPDATE_GOLDEN=1 writes it', async () => {
    const help = (await sections(program, ['advisor-chain'])).join('\n\n');
    const page = readFileSync(PAGE, 'utf8');
    const made = page.replace(
      BLOCK,
      (_, start: string, end: string) => `${start}\n${help}\n${end}`,
    );
    if (process.env['UPDATE_GOLDEN']) writeFileSync(PAGE, made);

    expect(page).to.match(BLOCK);
    expect(readFileSync(PAGE, 'utf8')).to.equal(made);
  });
});
