import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { entryPaths, tsc } from '../support/compile-programs.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/^(decisions|site)\b/.test(path))
    .map((path) => `docs/${path}`),
];

/** A block of TypeScript in a page. */
interface Snippet {
  readonly page: string;
  /** Line of the fence before it, from 1. */
  readonly line: number;
  readonly code: string;
}

function snippetsOf(page: string, text: string): Snippet[] {
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    code: match[1] as string,
  }));
}

/**
 * A snippet as a reader runs it, with the line numbers of the page: the first block of a page and each
 * block of README.md alone, every other one below the first.
 */
function toProgram({ page, line, code }: Snippet, first: Snippet): string {
  if (page === 'README.md' || line === first.line) return '\n'.repeat(line) + code;
  const between = line - first.line - first.code.split('\n').length + 1;
  return `${'\n'.repeat(first.line)}${first.code}${'\n'.repeat(between)}${code}`;
}

/** The errors of snippets, each once, with its line in the page. */
function compileSnippets(snippets: readonly Snippet[]): string[] {
  const firsts = new Map(snippets.toReversed().map((snippet) => [snippet.page, snippet]));
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-snippets-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: object;
    };
    const options = {
      ...compilerOptions,
      noEmit: true,
      noUnusedLocals: false,
      noUnusedParameters: false,
      declaration: false,
      declarationMap: false,
      paths: entryPaths(),
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['pages'] }),
    );
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    for (const snippet of snippets) {
      const file = join(folder, 'pages', `${snippet.page}.${snippet.line}.ts`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, toProgram(snippet, firsts.get(snippet.page) ?? snippet));
    }
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const errors = stdout
      .split('\n')
      .filter((line) => /error TS\d+/.test(line))
      .map((line) => line.replace(/^pages\/(.+)\.\d+\.ts\((\d+),\d+\)/, '$1:$2'));
    return [...new Set(errors)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const pageOf = (error: string): string => error.replace(/:.*/, '');

describe('TypeScript in README.md and docs', () => {
  const snippets = pages.flatMap((page) =>
    snippetsOf(page, readFileSync(join(root, page), 'utf8')),
  );
  const wrong = snippetsOf(
    'wrong.md',
    "A page.\n\n```ts\nimport { ChatClient } from 'advisor-chain';\n\nconst seven = 7;\nChatClient.create(seven);\n```\n\n```ts\nimport { defineTool } from 'advisor-chain';\n\ndefineTool(seven);\nconst seven = client;\n```\n",
  );
  let errors: readonly string[];

  before(function () {
    this.timeout(120_000);
    errors = compileSnippets([...snippets, ...wrong]);
  });

  it('is part of every page about advisors and errors', () => {
    for (const page of [
      'README.md',
      'docs/how-the-chain-works.md',
      'docs/writing-an-advisor.md',
      'docs/tools.md',
      'docs/errors.md',
    ])
      expect(snippets.filter((snippet) => snippet.page === page).length, page).to.be.above(0);
  });

  it('compiles when it is pasted: the first block of a page alone, the others below it', () => {
    expect(errors.filter((error) => pageOf(error) !== 'wrong.md')).to.deep.equal([]);
  });

  it('is reported with its line in the page when it does not compile', () => {
    const found = errors.filter((error) => pageOf(error) === 'wrong.md');

    expect(found.map((error) => error.replace(/: error (TS\d+): .*/, ' $1'))).to.deep.equal([
      'wrong.md:6 TS2451',
      'wrong.md:7 TS2345',
      'wrong.md:13 TS2345',
      'wrong.md:14 TS2451',
      'wrong.md:14 TS2304',
    ]);
  });
});
