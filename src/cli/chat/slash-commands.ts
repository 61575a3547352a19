import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { nameHint } from '../../core/internal/name-hint.js';
import { UsageError } from '../usage-error.js';
import type { ChatSession } from './chat-session.js';
import { describeTokens, toMarkdown } from './finished-turn.js';
import { inOneLine } from './screen.js';

interface SlashCommand {
  /** Its argument, as its help has it. */
  readonly argument?: string;
  readonly description: string;
  readonly run: (session: ChatSession, argument: string) => Promise<void> | void;
}

/** The commands of a chat, by their name. */
export const SLASH_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: { description: 'Show the commands', run: showHelp },
  explain: {
    description: 'Show the chain of advisors, with its warnings',
    run: ({ client, parts }) => parts.screen.print(client.explain().toString()),
  },
  trace: { description: 'Show the parts of the last turn, with their durations', run: showTrace },
  tokens: {
    description: 'Show tokens and cost of the session',
    run: ({ turns, parts }) => parts.screen.print(describeTokens(turns)),
  },
  undo: { description: 'Forget the last turn', run: undo },
  model: {
    argument: '[provider:model]',
    description: 'Show the model, or change it',
    run: changeModel,
  },
  export: {
    argument: '[file]',
    description: 'Write the session to a new file: .json for the inspector, or .md',
    run: exportTurns,
  },
  quit: { description: 'End the chat, as Ctrl-D does', run: (session) => session.leave() },
};

/** @throws {@link UsageError} for an unknown command, and errors of the command */
export async function runSlashCommand(session: ChatSession, text: string): Promise<void> {
  const [, given = '', argument = ''] = /^\/(\S*)\s*(.*)$/su.exec(text) ?? [];
  const name = given === 'exit' ? 'quit' : given;
  const command = Object.hasOwn(SLASH_COMMANDS, name) ? SLASH_COMMANDS[name] : undefined;
  if (!command) {
    const hint = nameHint(name, Object.keys(SLASH_COMMANDS), 'see /help').replaceAll('`', '');
    throw new UsageError(`unknown command /${inOneLine(name, 40)}; ${hint}`);
  }
  if (argument !== '' && command.argument === undefined)
    throw new UsageError(`/${name} takes no argument`);
  await command.run(session, argument.trim());
}

function showHelp({ parts: { screen } }: ChatSession): void {
  const rows = Object.entries(SLASH_COMMANDS).map(([name, { argument = '', description }]) => {
    return [`/${name} ${argument}`.trim(), description] as const;
  });
  const width = Math.max(...rows.map(([usage]) => usage.length));
  const lines = rows.map(([usage, description]) => `${usage.padEnd(width)}  ${description}`);
  screen.print(
    [
      ...lines,
      '',
      'A backslash at the end of a line, or a paste, continues the question on the next line.',
      'Ctrl-C cancels an answer. A question that begins with a slash is written with two.',
    ].join('\n'),
  );
}

function showTrace({ parts: { screen, recorder } }: ChatSession): void {
  screen.print(recorder.describeLastTurn() ?? 'There is no turn so far.');
}

async function undo({ parts: { history, screen } }: ChatSession): Promise<void> {
  if (!history) throw new UsageError('/undo: the memory is the module’s own, which has no undo');
  const question = await history.undo();
  if (question === undefined) return screen.note('There is no turn to forget.');
  screen.note(`forgotten: ${inOneLine(question, 60)}`);
}

async function changeModel(session: ChatSession, name: string): Promise<void> {
  if (name !== '') await session.useModel(name);
  session.parts.screen.print(`model: ${session.model}`);
}

async function exportTurns(session: ChatSession, name: string): Promise<void> {
  const { turns, parts } = session;
  if (turns.length === 0) throw new UsageError('/export: there is no turn so far');
  const file = name === '' ? `${parts.conversationId.replaceAll(/[^\w-]/g, '_')}.json` : name;
  const text = file.endsWith('.json')
    ? `${JSON.stringify(await parts.recorder.export())}\n`
    : toMarkdown(turns, parts.conversationId);
  try {
    await writeFile(resolve(parts.cwd, file), text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new UsageError(`/export: ${file} exists already; give another name`);
  }
  parts.screen.print(`written: ${file}`);
}
