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

const PROMPT = '\n> ';
const INTERRUPT = '\u0003';
const END = '\u0004';
const STACK = /^\s+at .+:\d+:\d+\)?$/m;
const ESCAPE = '\u001b';
const COLOUR = new RegExp(String.raw`${ESCAPE}\[\d+m`);

/** A command line that ends by itself. `SCENE` is a module with a client, `KEYED` has a key of a provider. */
interface Case {
  /** Options and arguments that it shows, after the command. */
  readonly argv: readonly string[];
  /** Standard input, if the command reads it. */
  readonly input?: string;
  readonly shown: RegExp;
  readonly code?: number;
  readonly hasKey?: boolean;
  /** Done in a terminal, such as to leave the chat. */
  readonly inTerminal?: (terminal: PseudoTerminal) => Promise<void>;
}

const leave = async (terminal: PseudoTerminal): Promise<void> => {
  await terminal.waitFor(PROMPT);
  terminal.enter('hello');
  await terminal.waitFor(PROMPT);
  terminal.type(END);
};
const stopServer = async (terminal: PseudoTerminal): Promise<void> => {
  await terminal.waitFor('Ctrl-C ends it');
  terminal.type(INTERRUPT);
};

/** For each command, cases that show all of its options. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  '': [
    { argv: ['--version'], shown: /advisor-chain \d/ },
    { argv: [], shown: /USAGE/, code: 2 },
    { argv: ['nix'], shown: /unknown command/, code: 2 },
  ],
  chat: [
    { argv: [], input: 'hello', shown: /No key.*[^]*I am the offline model/, inTerminal: leave },
    { argv: ['SCENE'], input: 'hello', shown: /You wrote "hello"/, inTerminal: leave },
    {
      argv: ['--model', 'openai:gpt-5-mini', '--system', 'Be brief.'],
      input: 'hello',
      shown: /I am the offline model/,
      hasKey: true,
      inTerminal: leave,
    },
    {
      argv: ['SCENE', '--memory', 'chat.db', '--conversation', 'anna', '--approve', 'ask'],
      input: 'hello',
      shown: /conversation anna in chat\.db[^]*You wrote "hello"/,
      inTerminal: leave,
    },
    {
      argv: ['SCENE', '--mcp', 'MCP'],
      input: 'hello',
      shown: /1 tools of the MCP server mcp-server/,
      inTerminal: leave,
    },
    { argv: ['SCENE', '--approve', 'perhaps'], shown: /perhaps/, code: 2 },
  ],
  explain: [
    { argv: ['SCENE'], shown: /tool-calling/ },
    { argv: ['SCENE', '--json'], shown: /"toolLoop": ?"tool-calling"/ },
    { argv: ['missing.mjs'], shown: /there is no file missing\.mjs/, code: 1 },
  ],
  serve: [
    {
      argv: ['SCENE', '--port', '0', '--key', 'local'],
      shown: /http:\/\/127\.0\.0\.1:\d+\/v1/,
      code: 130,
      inTerminal: stopServer,
    },
  ],
  inspect: [
    {
      argv: ['SCENE', '--port', '0'],
      shown: /http:\/\/127\.0\.0\.1:\d+\//,
      code: 130,
      inTerminal: stopServer,
    },
  ],
  run: [
    { argv: ['turns.json', '--json'], shown: /"differences": \[\]/ },
    { argv: ['turns.json', 'SCENE', '--turn', 'nix'], shown: /has no turn nix/, code: 1 },
  ],
  doctor: [{ argv: ['--json', '--database', 'memory.db'], shown: /"version"/ }],
  'memory show': [
    {
      argv: [...memory(), '--conversation', 'berta', '--limit', '1', '--json'],
      shown: /the answer/,
    },
  ],
  'memory search': [
    {
      argv: ['answer', ...memory(), '--conversation', 'berta', '--limit', '1', '--json'],
      shown: /the answer/,
    },
  ],
  'memory export': [
    { argv: [...memory(), '--conversation', 'berta'], shown: /the answer/ },
    { argv: [...memory(), '--out', 'OUT'], shown: /.*/ },
  ],
  'memory delete': [
    { argv: [...memory(), '--conversation', 'nix', '--yes'], shown: /.*/, code: 1 },
    { argv: [...memory('other'), '--all', '--yes'], shown: /.*/ },
  ],
  'tool-search-report': [
    {
      argv: [
        '--tools',
        'tools.json',
        '--queries',
        'queries.json',
        '--index',
        'keyword',
        '--max-results',
        '3',
      ],
      shown: /recall@1/,
    },
    {
      argv: [
        '--tools',
        'tools.json',
        '--queries',
        'queries.json',
        '--index',
        'vector',
        '--embedding-model',
        'missing.mjs',
      ],
      shown: /missing\.mjs/,
      code: 1,
    },
  ],
};

function memory(prefix = 'chat_memory'): readonly string[] {
  return ['--memory', 'memory.db', '--prefix', prefix];
}

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
    /** Waits for a text, types Ctrl-C, and continues; ends with the code. */
    interface Moment {
      readonly title: string;
      readonly argv: readonly string[];
      readonly code: number;
      readonly act: (terminal: PseudoTerminal) => Promise<void>;
    }

    const interruptAt =
      (...shown: readonly (string | RegExp)[]) =>
      async (terminal: PseudoTerminal): Promise<void> => {
        for (const text of shown) await terminal.waitFor(text);
        terminal.type(INTERRUPT);
      };
    /** Interrupts a turn; then the chat answers the next question, and Ctrl-D ends it. */
    const inTurn =
      (question: string, ...shown: readonly string[]) =>
      async (terminal: PseudoTerminal): Promise<void> => {
        await terminal.waitFor(PROMPT);
        terminal.enter(question);
        await interruptAt(...shown)(terminal);
        await terminal.waitFor('cancelled');
        await terminal.waitFor(PROMPT);
        terminal.enter('hello');
        await terminal.waitFor('You wrote "hello"');
        await terminal.waitFor(PROMPT);
        terminal.type(END);
      };
    const chat = ['chat', 'SCENE'];

    const MOMENTS: readonly Moment[] = [
      {
        title: 'while chat loads a module',
        argv: ['chat', 'SLOW'],
        code: 130,
        act: interruptAt('loading'),
      },
      {
        title: 'while explain loads a module',
        argv: ['explain', 'SLOW'],
        code: 130,
        act: interruptAt('loading'),
      },
      {
        title: 'while serve loads a module',
        argv: ['serve', 'SLOW'],
        code: 130,
        act: interruptAt('loading'),
      },
      {
        title: 'while chat connects to a server',
        argv: [...chat, '--mcp', 'sleep 1000'],
        code: 130,
        act: interruptAt('connecting to'),
      },
      {
        title: 'twice at the prompt',
        argv: chat,
        code: 130,
        act: async (terminal) => {
          await interruptAt(PROMPT)(terminal);
          await interruptAt('Ctrl-C again', PROMPT)(terminal);
        },
      },
      {
        title: 'in a line',
        argv: chat,
        code: 0,
        act: async (terminal) => {
          await terminal.waitFor(PROMPT);
          terminal.type('some text');
          await interruptAt('some text')(terminal);
          await terminal.waitFor('> ');
          terminal.enter('hello');
          await terminal.waitFor('You wrote "hello"');
          await terminal.waitFor(PROMPT);
          terminal.type(END);
        },
      },
      {
        title: 'in the second line of a question',
        argv: chat,
        code: 0,
        act: async (terminal) => {
          await terminal.waitFor(PROMPT);
          terminal.enter('one\\');
          await interruptAt('… ')(terminal);
          await terminal.waitFor('> ');
          terminal.enter('hello');
          await terminal.waitFor('You wrote "hello"');
          await terminal.waitFor(PROMPT);
          terminal.type(END);
        },
      },
      { title: 'while a model is awaited', argv: chat, code: 0, act: inTurn('wait', '…') },
      { title: 'in an answer', argv: chat, code: 0, act: inTurn('stream', 'word word') },
      { title: 'in a tool', argv: chat, code: 0, act: inTurn('hang', '→ hang') },
      {
        title: 'in a tool that ignores it',
        argv: chat,
        code: 0,
        act: inTurn('ignore', '→ ignore'),
      },
      {
        title: 'in a tool of a server',
        argv: [...chat, '--mcp', 'MCP', '--approve', 'never'],
        code: 0,
        act: inTurn('far', '→ mcp-server_wait'),
      },
      { title: 'at an approval', argv: chat, code: 0, act: inTurn('write', 'run it?') },
      {
        title: 'at the second of two approvals',
        argv: chat,
        code: 0,
        act: async (terminal) => {
          await terminal.waitFor(PROMPT);
          terminal.enter('both');
          await terminal.waitFor('run it?');
          terminal.enter('y');
          await interruptAt('run it?')(terminal);
          await terminal.waitFor('cancelled');
          await terminal.waitFor(PROMPT);
          terminal.type(END);
        },
      },
      {
        title: 'at a question of a tool',
        argv: chat,
        code: 0,
        act: inTurn('greet', 'Your name?', 'answer: '),
      },
      {
        title: 'behind keys that were typed during an answer',
        argv: chat,
        code: 0,
        act: async (terminal) => {
          await terminal.waitFor(PROMPT);
          terminal.enter('stream');
          await terminal.waitFor('word word');
          terminal.type(`unsent${INTERRUPT}`);
          await terminal.waitFor('cancelled');
          await terminal.waitFor(PROMPT);
          terminal.type(END);
        },
      },
      {
        title: 'directly behind the Enter key',
        argv: chat,
        code: 0,
        act: async (terminal) => {
          await terminal.waitFor(PROMPT);
          terminal.type(`wait\r${INTERRUPT}`);
          await terminal.waitFor('cancelled');
          await terminal.waitFor(PROMPT);
          terminal.type(END);
        },
      },
      {
        title: 'while serve is ready',
        argv: ['serve', 'SCENE', '-p', '0'],
        code: 130,
        act: interruptAt('Ctrl-C ends it'),
      },
      {
        title: 'twice while serve is ready',
        argv: ['serve', 'SCENE', '-p', '0'],
        code: 130,
        act: async (terminal) => {
          await terminal.waitFor('Ctrl-C ends it');
          terminal.type(INTERRUPT + INTERRUPT);
        },
      },
      {
        title: 'in a request to serve',
        argv: ['serve', 'SCENE', '-p', '0'],
        code: 130,
        act: async (terminal) => {
          const address = await terminal.waitFor(/http:\/\/[\d.:]+\/v1/);
          await terminal.waitFor('Ctrl-C ends it');
          const body = {
            model: 'scene',
            messages: [{ role: 'user', content: 'stream' }],
            stream: true,
          };
          const response = await fetch(`${address}/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
          const reader = response.body?.getReader();
          await reader?.read();
          terminal.type(INTERRUPT);
          await reader?.closed.catch(() => undefined);
        },
      },
      {
        title: 'at the question of memory delete',
        argv: ['memory', 'delete', '-m', 'memory.db', '-c', 'berta'],
        code: 130,
        act: interruptAt('[y/N]'),
      },
      {
        title: 'while inspect is ready',
        argv: ['inspect', 'SCENE'],
        code: 130,
        act: interruptAt('Ctrl-C ends it'),
      },
    ];

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
