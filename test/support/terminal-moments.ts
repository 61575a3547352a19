import type { PseudoTerminal } from './pseudo-terminal.js';
import { END, INTERRUPT, PROMPT } from './terminal-cases.js';

/** Waits for a text, types Ctrl-C, and continues; ends with the code. */
export interface TerminalMoment {
  readonly title: string;
  readonly argv: readonly string[];
  readonly code: number;
  readonly act: (terminal: PseudoTerminal) => Promise<void>;
}

export const interruptAt =
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

export const MOMENTS: readonly TerminalMoment[] = [
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
    title: 'at a question of a server',
    argv: [...chat, '--mcp', 'MCP', '--approve', 'never'],
    code: 0,
    act: inTurn('shop', 'Your order?', 'Size (S, M): '),
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
