import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Runs a block of TypeScript as a program of this folder, without a key. */
function run(code: string): string {
  const { OPENAI_API_KEY: _key, ...env } = process.env;
  const sources = code
    .replaceAll("'advisor-chain'", "'./src/index.ts'")
    .replaceAll("'advisor-chain/testing'", "'./src/testing/index.ts'");
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', sources],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), env, encoding: 'utf8' },
  );
  return stdout + stderr;
}

describe('the README', () => {
  const page = read('README.md');
  const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language,
    text: text ?? '',
  }));

  it('has an example of 13 lines that the compiler checks', () => {
    const checked = read('test/types/readme.test-types.ts')
      .replace('../../src/index.js', 'advisor-chain')
      .replace('../../src/testing/index.js', 'advisor-chain/testing');

    const example = blocks.find(({ language }) => language === 'ts');
    expect(example?.text).to.equal(checked);
    expect(example?.text.split('\n').filter(Boolean)).to.have.lengthOf(13);
  });

  it('feeds useChat in ten lines, of a route and of its page', () => {
    const [, section = ''] = page.split('## useChat in ten lines\n');
    const [route = '', ofPage = ''] = [...section.matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)].map(([, code]) => code); // prettier-ignore
    const lines = `${route}${ofPage}`.split('\n').filter(Boolean);

    expect(route).to.include('toUIMessageStreamResponse');
    expect(ofPage).to.include('useChat()');
    expect(lines).to.have.lengthOf(10);
  });

  it('begins with a program that runs without a key, as getting started does', function () {
    this.timeout(30_000);
    for (const path of ['README.md', 'docs/getting-started.md']) {
      const first = /^```ts\n([\s\S]*?)^```$/m.exec(read(path))?.[1] ?? '';

      expect(run(first).trim()).to.equal('get_weather: {"city":"Rome","temperature":24}');
      expect(first).to.match(
        /^\/\/ .*new OpenAIChatModel\(.* advisor-chain\/openai, .*OPENAI_API_KEY$/m,
      );
    }
  });

  it('[D36] has the install command of getting started and of the index for language models', () => {
    const install = blocks.find(({ language }) => language === 'sh')?.text.trim();
    const start = read('docs/getting-started.md');

    expect(install).to.equal('npm install advisor-chain zod');
    expect(start).to.match(/^# Getting started\n\n```sh\nnpm install advisor-chain zod\n```/);
    expect(start).to.match(/Install `rxjs`, too, to use its operators/);
    expect(read('docs/llms.txt')).to.include(`\`${install}\``);
  });

  it('has the install command and the two commands for contributors, ready to copy', () => {
    const commands = blocks
      .filter(({ language }) => language === 'sh')
      .map(({ text }) => text.trim());

    expect(commands).to.deep.equal([
      'npm install advisor-chain zod',
      'npm ci && npm start',
      'npm ci && npm test',
    ]);
  });

  it('has the picture of the chain', () => {
    expect(blocks.find(({ text }) => text.includes('TOOL-CALLING >'))?.text).to.match(
      /once per turn +once per iteration\nrequest {2}-> .+\nanswer {3}<- /,
    );
  });

  it('names pages and programs that exist', () => {
    const missing = [...page.matchAll(/\]\(([^)]+)\)|`(examples\/[^`]+)`/g)].filter(
      ([, link, program = '']) => !existsSync(new URL(`../../${link ?? program}`, import.meta.url)),
    );

    expect(missing.map(([found]) => found)).to.deep.equal([]);
  });
});
