#!/usr/bin/env node
import { EXIT } from './command.js';
import { program } from './commands.js';
import { runProgram } from './run-program.js';
import { Terminal } from './terminal.js';

/** Milliseconds that a command has to end after Ctrl-C. */
const GRACE = 2_000;

const interrupt = new AbortController();

function onSignal(): void {
  if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
  process.exitCode = EXIT.interrupted;
  interrupt.abort();
  setTimeout(() => process.exit(EXIT.interrupted), GRACE).unref();
}

process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);
// the reader of a pipe has ended, such as head
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
  });

const terminal = new Terminal({
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  signal: interrupt.signal,
});

for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => {
    terminal.note(`Error: ${error instanceof Error ? error.message : String(error)}`);
    if (process.env['ADVISOR_CHAIN_DEBUG'] && error instanceof Error)
      terminal.note(error.stack ?? '');
    process.exit(EXIT.failed);
  });

const code = await runProgram(program, process.argv.slice(2), terminal);
process.exitCode = code;
// what a module keeps open, such as a pool of a database, does not keep the command running
process.stdout.write('', () => process.exit(code));
