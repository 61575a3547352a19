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
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import * as api from '../../src/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/^(decisions|api)\b/.test(path))
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
 * Wraps a snippet into a module with the line numbers of the page. Code without exports becomes the
 * body of a function, so that it may return; its imports move to the line of the fence.
 */
function toModule({ line, code }: Snippet): string {
  const before = '\n'.repeat(line - 1);
  if (/^export /m.test(code)) return `${before}export {};\n${code}`;
  const imports: string[] = [];
  const body = code.replaceAll(/^import [\s\S]*?;$/gm, (found) => {
    imports.push(found.replaceAll('\n', ' '));
    return found.replaceAll(/[^\n]/g, '');
  });
  return `${before}${imports.join(' ')} export async function snippet() {\n${body}}\n`;
}

/** Declares the names that pages use without importing them: exports and objects of an application. */
function globalDeclarations(): string {
  const imports = [
    "import type * as api from 'advisor-chain';",
    "import type * as openai from 'advisor-chain/openai';",
    "import type * as sdk from 'openai';",
    "import type * as zod from 'zod';",
    "import type { Observable } from 'rxjs';",
  ];
  const constants = [
    ...Object.keys(api).map((name) => `${name}: typeof api.${name}`),
    'OpenAIChatModel: typeof openai.OpenAIChatModel',
    'OpenAIResponsesModel: typeof openai.OpenAIResponsesModel',
    'AzureOpenAI: typeof sdk.AzureOpenAI',
    'z: typeof zod.z',
    'client: api.ChatClient',
    'model: api.ChatModel',
    'repository: api.ChatMemoryRepository',
    ...['tools', 'githubTools', 'mailTools', 'calendarTools'].map(
      (name) => `${name}: readonly api.Tool[]`,
    ),
    'accessToken: () => Promise<string>',
    'registry: ReadonlyMap<string, api.Tool>',
    'loadTools: (tenant: string, signal: AbortSignal) => Promise<readonly api.Tool[]>',
    'byPrefix: api.ToolIndex',
    'decisionsOf: (requestId: string, person?: string) => Observable<api.Decision>',
    'askUser: (question: string) => Promise<boolean>',
    'approve: (calls: readonly api.ToolCall[]) => Promise<boolean>',
    'bank: { transfer(order: object, options: object): Promise<string> }',
    ...['question', 'apiKey', 'endpoint', 'deployment', 'apiVersion'].map(
      (name) => `${name}: string`,
    ),
  ];
  return [
    ...imports,
    'declare global {',
    ...constants.map((constant) => `const ${constant};`),
    '}',
  ].join('\n');
}

/** Path of the source of a built declaration. */
function sourcePath(types: string): string {
  return types.replace('./dist/types/', '').replace(/\.d\.ts$/, '.ts');
}

function compileSnippets(snippets: readonly Snippet[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-snippets-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: object;
    };
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      exports: Readonly<Record<string, string | { readonly types: string }>>;
    };
    const paths = Object.fromEntries(
      Object.entries(exports).flatMap(([entry, target]) =>
        typeof target === 'string'
          ? []
          : [[`advisor-chain${entry.slice(1)}`, [join(root, sourcePath(target.types))]]],
      ),
    );
    const options = {
      ...compilerOptions,
      noEmit: true,
      noUnusedLocals: false,
      noUnusedParameters: false,
      declaration: false,
      declarationMap: false,
      paths,
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['globals.d.ts', 'pages'] }),
    );
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    writeFileSync(join(folder, 'globals.d.ts'), globalDeclarations());
    for (const snippet of snippets) {
      const file = join(folder, 'pages', `${snippet.page}.${snippet.line}.ts`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, toModule(snippet));
    }
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return stdout
      .split('\n')
      .filter((line) => /error TS\d+/.test(line))
      .map((line) => line.replace(/^pages\/(.+)\.\d+\.ts\((\d+),\d+\)/, '$1:$2'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('TypeScript in README.md and docs', () => {
  const snippets = pages.flatMap((page) =>
    snippetsOf(page, readFileSync(join(root, page), 'utf8')),
  );
  let errors: readonly string[];

  before(function () {
    this.timeout(120_000);
    const wrong = snippetsOf(
      'wrong.md',
      "A page.\n\n```ts\nimport { ChatClient } from 'advisor-chain';\n\nChatClient.create(7);\nreturn;\n```\n",
    );
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

  it('compiles', () => {
    expect(errors.filter((error) => !error.startsWith('wrong.md'))).to.deep.equal([]);
  });

  it('is reported with its line in the page when it does not compile', () => {
    const found = errors.filter((error) => error.startsWith('wrong.md'));

    expect(found).to.have.lengthOf(1);
    expect(found[0]).to.match(/^wrong\.md:6: error TS2345: /);
  });
});
