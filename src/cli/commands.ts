import { command } from './command.js';
import { chatCommand } from './chat/chat-command.js';
import { doctorCommand } from './doctor/doctor-command.js';
import { explainCommand } from './explain-command.js';
import { inspectCommand } from './inspect-command.js';
import { memoryCommand } from './memory/memory-command.js';
import { toolSearchReportCommand } from './report/tool-search-report-command.js';
import { runCommand } from './run/run-command.js';
import { serveCommand } from './serve-command.js';

/** The program with all of its commands. */
export const program = command({
  name: 'advisor-chain',
  description: 'See, try and serve the chain of a ChatClient.',
  args: {
    version: { type: 'boolean', alias: 'v', description: 'Show the version' },
  },
  commands: {
    chat: chatCommand,
    inspect: inspectCommand,
    explain: explainCommand,
    serve: serveCommand,
    memory: memoryCommand,
    run: runCommand,
    'tool-search-report': toolSearchReportCommand,
    doctor: doctorCommand,
  },
  notes: [
    'Exit codes: 0 it worked, 1 it failed or found a difference, 2 wrong usage, 130 Ctrl-C.',
    'NO_COLOR=1 switches colour off; ADVISOR_CHAIN_DEBUG=1 adds the stack to errors.',
  ].join('\n'),
});
