import { renderUsage, type CommandDef } from 'citty';
import { stripVTControlCharacters } from 'node:util';
import { SCOPE } from '../core/internal/package.js';
import { COMMON } from './arguments.js';
import type { Command } from './command.js';

/** The help of a command, made by citty from its definitions. Without colour: citty has it in pipes, too. */
export async function helpOf(command: Command, path: readonly string[]): Promise<string> {
  const { description, args = {}, commands, examples = [], notes } = command;
  const subCommands = commands && mapValues(commands, toCitty);
  const usage = await renderUsage({
    meta: { name: path.join(' '), description },
    args: { ...args, ...COMMON },
    ...(subCommands && { subCommands }),
  } as CommandDef);
  const body = tidy(stripVTControlCharacters(usage), description, Object.keys(commands ?? {}));
  const lines = examples.map((example) => `  ${example}`);
  return [
    body,
    ...(lines.length > 0 ? ['', 'EXAMPLES', '', ...lines] : []),
    ...(notes === undefined ? [] : ['', notes]),
  ].join('\n');
}

/**
 * citty repeats the name of the command behind the description, lists all commands in the first line, and aligns with
 * spaces at the ends of lines.
 */
function tidy(usage: string, description: string, names: readonly string[]): string {
  const all = names.join('|');
  return usage
    .replace(/^[^\n]*\n/, `${description}\n`)
    .replace(all === '' ? '\0' : ` ${all}`, ' <COMMAND>')
    .replaceAll(/ +$/gm, '')
    .trimEnd();
}

function toCitty({ name, description }: Command): CommandDef {
  return { meta: { name, description } };
}

function mapValues<T, U>(
  values: Readonly<Record<string, T>>,
  map: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

/** Name and version. */
export const VERSION = `${SCOPE.name} ${SCOPE.version}`;
