import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Inspector } from '../../src/bridges/inspector/index.js';
import type { Command } from '../../src/cli/command.js';
import { program } from '../../src/cli/commands.js';
import { ChatClient } from '../../src/index.js';
import { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { ScriptedChatModel, serveOffline, type OfflineServer } from '../../src/testing/index.js';
import { buildCli, type BuiltCli } from '../support/built-cli.js';
import {
  hasPseudoTerminals,
  PseudoTerminal,
  type TerminalEnd,
} from '../support/pseudo-terminal.js';
import { CASES, END, INTERRUPT, leave, PROMPT } from '../support/terminal-cases.js';
import { interruptAt, MOMENTS } from '../support/terminal-moments.js';

const STACK = /^\s+at .+:\d+:\d+\)?$/m;
const ESCAPE = '\u001b';
const COLOUR = new RegExp(String.raw`${ESCAPE}\[\d+m`);

/** All commands that run, by their words. */
function commandsOf(command: Command, path = ''): readonly (readonly [string, Command])[] {
  const below = Object.entries(command.commands ?? {}).flatMap(([name, each]) =>
    commandsOf(each, `${path} ${name}`.trim()),
  );
  return command.run || path === '' ? [[path, command], ...below] : below;
}

describe('the command line in a pseudo terminal', function () {
  let cli: BuiltCli;
  let server: OfflineServer;
  let outputs = 0;

  before(async function () {
    if (!hasPseudoTerminals()) {
      if (process.env['CI'] === 'true') throw new Error('script of util-linux is not installed');
      console.log('      not tested: there is no script of util-linux');
      return this.skip();
    }
    cli = await buildCli(['scene', 'slow-module', 'mcp-server']);
    server = await serveOffline();
    const write = (name: string, value: unknown): void =>
      writeFileSync(join(cli.folder, name), JSON.stringify(value));
    write('tools.json', [
      { name: 'read_file', description: 'Reads a file.', inputSchema: { type: 'object' } },
    ]);
    write('queries.json', [{ query: 'read a file', relevant: ['read_file'] }]);
    const inspector = new Inspector({ allowInProduction: true }); // of the tests
    const client = ChatClient.builder(new ScriptedChatModel(['Hello.']));
    await client.defaultAdvisors(inspector).build().prompt('Hi.').call().content();
    write('turns.json', await inspector.export());
    const repository = await SqliteChatMemoryRepository.open(join(cli.folder, 'memory.db'));
    await repository.append('berta', [
      { role: 'user', content: 'the question' },
      { role: 'assistant', content: 'the answer' },
    ]);
    await repository.close();
  });

  after(async () => {
    await server?.close();
    cli?.remove();
  });

  const words = (argv: readonly string[]): readonly string[] => [
    ...cli.command,
    ...argv.map((word) => {
      if (word === 'SCENE') return cli.fixture('scene');
      if (word === 'SLOW') return cli.fixture('slow-module');
      if (word === 'MCP') return `${process.execPath} ${cli.fixture('mcp-server')}`;
      return word === 'OUT' ? `out-${outputs++}.jsonl` : word;
    }),
  ];
  const envOf = (hasKey = false): Record<string, string> =>
    hasKey ? { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: server.baseURL } : {};
  const open = (argv: readonly string[], env: Record<string, string> = {}): PseudoTerminal =>
    new PseudoTerminal(words(argv), { cwd: cli.folder, env });

  /** The end that each program owes to its terminal. */
  function expectClean(end: TerminalEnd, code: number): void {
    expect(end.output).not.to.match(STACK);
    expect(end.code, end.output).to.equal(code);
    expect(end.after).to.equal(end.before);
    expect(end.left).to.equal('');
  }

  async function piped(argv: readonly string[], input: string, env: Record<string, string>) {
    const [file = '', ...args] = words(argv);
    const { PATH, HOME } = process.env;
    const child = spawn(file, args, { cwd: cli.folder, env: { PATH, HOME, ...env } });
    let [out, notes] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      notes += text;
      if (text.includes('Ctrl-C ends it')) child.kill('SIGINT');
    });
    child.stdin.on('error', () => undefined).end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out, notes };
  }

  it('has cases for each command and each of its options', () => {
    for (const [path, { args = {} }] of commandsOf(program)) {
      const cases = CASES[path] ?? [];
      const written = cases.flatMap(({ argv }) => argv);
      const hasPositional = cases.some(({ argv }) => argv[0] && !argv[0].startsWith('-'));
      const missing = Object.entries(args).filter(([name, { type }]) =>
        type === 'positional' ? !hasPositional : !written.includes(`--${name}`),
      );
      expect(cases, `cases of "${path}"`).not.to.have.length(0);
      expect(missing, `options of "${path}" without a case`).to.deep.equal([]);
    }
  });

  for (const [path, definition] of commandsOf(program)) {
    const command = path === '' ? [] : path.split(' ');

    it(`${path || 'the program'} --help`, async () => {
      const end = await open([...command, '--help']).ended;
      const { code, out, notes } = await piped([...command, '--help'], '', {});

      expectClean(end, 0);
      expect(code, notes).to.equal(0);
      expect(out).to.contain(definition.description).and.not.to.contain(ESCAPE);
    });

    for (const { argv, input = '', shown, code = 0, hasKey, inTerminal } of CASES[path] ?? [])
      it(`${path} ${argv.join(' ')}${hasKey ? ', with a key' : ''}`, async () => {
        const terminal = open([...command, ...argv], envOf(hasKey));
        await (code === 2 ? undefined : inTerminal?.(terminal));
        const end = await terminal.ended;
        const pipe = await piped([...command, ...argv], input, envOf(hasKey));

        expectClean(end, code);
        expect(end.output).to.match(shown);
        expect(pipe.code, pipe.notes).to.equal(code);
        expect(pipe.notes + pipe.out).not.to.match(STACK);
        expect(`${pipe.notes}\n${pipe.out}`).to.match(shown);
        expect(pipe.out).not.to.contain(ESCAPE);
        if (input !== '') expect(pipe.out.trim().split('\n'), pipe.out).to.have.length(1);
      });
  }

  it('has colour at a terminal, and none with NO_COLOR', async () => {
    const chat = async (env: Record<string, string>): Promise<string> => {
      const terminal = open(['chat', 'SCENE'], env);
      await leave(terminal);
      expectClean(await terminal.ended, 0);
      return terminal.raw;
    };

    expect(await chat({})).to.contain('\u001b[2m');
    // readline resets the style of its prompt
    expect((await chat({ NO_COLOR: '1' })).replaceAll('\u001b[0J', '')).not.to.match(COLOUR);
  });

  describe('Ctrl-C', () => {
    for (const { title, argv, code, act } of MOMENTS)
      it(title, async function () {
        if (!program.commands?.[argv[0] ?? '']) return this.skip();
        const terminal = open(argv);
        try {
          await act(terminal);
          expectClean(await terminal.ended, code);
        } finally {
          await terminal.kill();
        }
      });

    it('while an answer of a provider is awaited', async () => {
      const silent = createServer(() => undefined).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const baseURL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
      const env = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: baseURL };
      const terminal = open(['chat', '--model', 'openai:gpt-5-mini'], env);
      try {
        await terminal.waitFor(PROMPT);
        const asked = once(silent, 'request');
        terminal.enter('hello');
        await asked;
        terminal.type(INTERRUPT);
        await terminal.waitFor('cancelled');
        await terminal.waitFor(PROMPT);
        terminal.type(END);
        expectClean(await terminal.ended, 0);
      } finally {
        await terminal.kill();
        silent.close();
        silent.closeAllConnections();
      }
    });

    it('while the answer to a pipe arrives', async () => {
      const line = words(['chat', 'SCENE']).join(' ');
      const terminal = new PseudoTerminal(['sh', '-c', `echo stream | ${line}`], {
        cwd: cli.folder,
      });
      await interruptAt('word word')(terminal);
      const end = await terminal.ended;

      expectClean(end, 130);
    });
  });
});
