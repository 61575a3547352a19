import type { PseudoTerminal } from './pseudo-terminal.js';

export const PROMPT = '\n> ';
export const INTERRUPT = '\u0003';
export const END = '\u0004';

/** A command line that ends by itself. `SCENE` is a module with a client, `KEYED` has a key of a provider. */
export interface TerminalCase {
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

export const leave = async (terminal: PseudoTerminal): Promise<void> => {
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
export const CASES: Readonly<Record<string, readonly TerminalCase[]>> = {
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
      shown: /3 tools of the MCP server mcp-server/,
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
