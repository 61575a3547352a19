import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the README', () => {
  const page = read('README.md');
  const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language,
    text: text ?? '',
  }));

  it('has an example of 12 lines that the compiler checks', () => {
    const checked = read('test/types/readme.test-types.ts')
      .replace('../../src/index.js', 'advisor-chain')
      .replace('../../src/models/openai/index.js', 'advisor-chain/openai');

    const example = blocks.find(({ language }) => language === 'ts');
    expect(example?.text).to.equal(checked);
    expect(example?.text.split('\n').filter(Boolean)).to.have.lengthOf(12);
  });

  it('[D36] has the install command of getting started and of the index for language models', () => {
    const install = blocks.find(({ language }) => language === 'sh')?.text.trim();
    const start = read('docs/getting-started.md');

    expect(install).to.equal('npm install advisor-chain rxjs zod');
    expect(start).to.match(/^# Getting started\n\n```sh\nnpm install advisor-chain rxjs zod\n```/);
    expect(start).to.match(/`rxjs` is a direct dependency/);
    expect(read('docs/llms.txt')).to.include(`\`${install}\``);
  });

  it('has the install command and the two commands for contributors, ready to copy', () => {
    const commands = blocks
      .filter(({ language }) => language === 'sh')
      .map(({ text }) => text.trim());

    expect(commands).to.deep.equal([
      'npm install advisor-chain rxjs zod',
      'npm ci && npm start',
      'npm ci && npm test',
    ]);
  });

  it('has the picture of the chain', () => {
    expect(blocks.find(({ text }) => text.includes('TOOL-CALLING >'))?.text).to.match(
      /once per turn +once per iteration\nrequest {2}-> .+\nanswer {3}<- /,
    );
  });

  it('links to pages that exist', () => {
    const missing = [...page.matchAll(/\]\(([^)]+)\)/g)].filter(
      ([, path = '']) => !existsSync(new URL(`../../${path}`, import.meta.url)),
    );

    expect(missing.map(([, path]) => path)).to.deep.equal([]);
  });
});
