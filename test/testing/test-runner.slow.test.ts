import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { InMemoryChatMemoryRepository } from '../../src/index.js';
import {
  itBehavesLikeAChatMemoryRepository,
  itBehavesLikeAToolIndex,
  type TestRunner,
} from '../../src/testing/index.js';
import { KeywordToolIndex } from '../../src/stores/tool-indexes/keyword-tool-index.js';

const FILE = fileURLToPath(new URL('../fixtures/testing/contracts.node-test.ts', import.meta.url));

interface Finished {
  readonly stdout: string;
  readonly code?: number;
}

describe('contract suites', () => {
  it('[D38] define their tests with the describe and it that they get', () => {
    const titles: string[] = [];
    const runner: TestRunner = {
      describe: (title, body) => {
        titles.push(title);
        body();
      },
      it: () => undefined,
    };

    itBehavesLikeAChatMemoryRepository(
      { name: 'a', create: () => new InMemoryChatMemoryRepository() },
      runner,
    );
    itBehavesLikeAToolIndex({ name: 'b', create: () => new KeywordToolIndex() }, runner);

    expect(titles).to.deep.equal([
      'a behaves like a chat memory repository',
      'b behaves like a tool index',
    ]);
  });

  it('[D38] run in node:test, and fail there for a wrong advisor only', async () => {
    // without the variables of this process, which may itself run in node:test
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const args = ['--import', 'tsx', '--test-reporter', 'tap', FILE];
    const { stdout, code } = (await promisify(execFile)(process.execPath, args, { env }).catch(
      (error: Finished) => error as Finished & { readonly code: number },
    )) as Finished;

    expect(code).to.equal(1);
    expect(stdout).to.match(/^ok \d+ - right behaves like an advisor/m);
    expect(stdout).to.match(/^not ok \d+ - wrong behaves like an advisor/m);
    expect(stdout).to.match(/^ {4}not ok \d+ - shows no text that it takes back/m);
    expect(stdout).to.match(/^ok \d+ - store behaves like a chat memory repository/m);
    expect(stdout).to.match(/^ok \d+ - index behaves like a tool index/m);
  });
});
