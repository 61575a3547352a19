import { nameHint } from '../core/internal/name-hint.js';
import { parse } from './arguments.js';
import { EXIT, type Command } from './command.js';
import { errorLine } from './error-line.js';
import { helpOf, VERSION } from './help.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

const PROGRAM = 'advisor-chain';
const HEADING = /^[A-Z]{5,}(?= |$)/gm;

/** Runs a command line and returns its exit code; what goes wrong is one line on `errors`. */
export async function runProgram(
  root: Command,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const path = [PROGRAM];
  try {
    const { command, rest } = find(root, argv, path);
    if (rest.includes('--help') || rest.includes('-h')) {
      const help = await helpOf(command, path);
      terminal.print(help.replaceAll(HEADING, (heading) => terminal.style('bold', heading)));
      return EXIT.ok;
    }
    if (command === root && /^(--version|-v)$/.test(rest[0] ?? '')) {
      terminal.print(VERSION);
      return EXIT.ok;
    }
    return await start(command, rest, path, terminal);
  } catch (error) {
    return report(error, path, terminal);
  }
}

async function start(
  command: Command,
  rest: readonly string[],
  path: readonly string[],
  terminal: Terminal,
): Promise<number> {
  if (!command.run) {
    const [first] = rest;
    if (first === undefined) {
      terminal.note(await helpOf(command, path));
      return EXIT.usage;
    }
    if (first.startsWith('-')) parse(rest, command);
    const known = Object.keys(command.commands ?? {});
    const hint = nameHint(first, known).replaceAll('`', '');
    throw new UsageError(`unknown command "${first}"; ${hint}`);
  }
  const { args, values } = parse(rest, command);
  const code = await command.run({ args, terminal, all: (name) => values.get(name) ?? [] });
  terminal.clearProgress();
  return terminal.signal.aborted ? EXIT.interrupted : (code ?? EXIT.ok);
}

/** The command that the first words name, and the other words; its path is added to `path`. */
function find(
  root: Command,
  argv: readonly string[],
  path: string[],
): { command: Command; rest: readonly string[] } {
  let command = root;
  let rest = argv;
  for (;;) {
    const name = rest[0] ?? '';
    const next =
      command.commands && Object.hasOwn(command.commands, name) && command.commands[name];
    if (!next) return { command, rest };
    path.push(name);
    [command, rest] = [next, rest.slice(1)];
  }
}

function report(error: unknown, path: readonly string[], terminal: Terminal): number {
  if (terminal.signal.aborted) {
    terminal.clearProgress();
    return EXIT.interrupted;
  }
  terminal.note(`Error: ${errorLine(error)}`);
  if (terminal.env['ADVISOR_CHAIN_DEBUG'] && error instanceof Error)
    terminal.note(error.stack ?? '');
  if (!(error instanceof UsageError)) return EXIT.failed;
  terminal.note(`Try: ${path.join(' ')} --help`);
  return EXIT.usage;
}
