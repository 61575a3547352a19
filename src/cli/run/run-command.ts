import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ExportedTurns, InspectedTurn } from '../../bridges/inspector/index.js';
import { InvalidArgumentError } from '../../core/errors/argument-errors.js';
import { reasonOf } from '../../core/errors/describe.js';
import { command, EXIT } from '../command.js';
import { loadClient } from '../load-module.js';
import { visible, type Terminal } from '../terminal.js';
import { replay } from './replay.js';
import { turnDifferences, type TurnDifference } from './turn-difference.js';

export const runCommand = command({
  name: 'run',
  description: 'Run exported turns of an inspector again, and print the differences',
  args: {
    export: {
      type: 'positional',
      description: 'File that an inspector has exported',
      required: true,
    },
    module: {
      type: 'positional',
      description:
        'File that exports the ChatClient with the chain; without it, a chain without advisors',
      required: false,
    },
    turn: { type: 'string', description: 'Id of one turn of the file', valueHint: 'id' },
    json: { type: 'boolean', description: 'Print JSON' },
  },
  examples: ['advisor-chain run turns.json app.ts'],
  notes:
    'Answers of the model and results of tools come from the export; nothing is asked again, and no chat memory is read or written. Other advisors, also with stores and models of their own, run as in the application. It exits with 1 if a request, the answer or the outcome differs.',
  async run({ args, terminal }) {
    const turns = await read(args.export, args.turn, terminal);
    const client = args.module ? await loadClient(args.module, terminal) : undefined;
    const results: { turn: InspectedTurn; differences: readonly TurnDifference[] }[] = [];
    for (const turn of turns) {
      if (terminal.signal.aborted) break;
      terminal.progress(`turn ${results.length + 1} of ${turns.length}`);
      const differences = turnDifferences(turn, await replay(turn, client, terminal));
      results.push({ turn, differences });
      if (!args.json) print(turn, differences, terminal);
    }
    if (args.json) {
      const data = results.map(({ turn: { id, question }, differences }) => ({
        id,
        question,
        differences,
      }));
      terminal.print(JSON.stringify(data, null, 2));
    }
    return results.some(({ differences }) => differences.length > 0) ? EXIT.failed : EXIT.ok;
  },
});

/** The turns of a file, checked by an inspector. */
async function read(
  path: string,
  wanted: string | undefined,
  terminal: Terminal,
): Promise<readonly InspectedTurn[]> {
  let text: string;
  try {
    text = readFileSync(resolve(terminal.cwd, path), 'utf8');
  } catch (cause) {
    throw new InvalidArgumentError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  const { Inspector } = await import('../../bridges/inspector/index.js');
  const inspector = new Inspector({ allowInProduction: true, maxTurns: 100_000, maxBytes: 1e9 });
  const imported = inspector.import(text).map((id) => inspector.turn(id));
  const file = JSON.parse(text) as ExportedTurns;
  // an inspector gives turns of files other ids
  const all = file.turns.flatMap(({ id }, at) => {
    const turn = imported[at];
    return turn ? [{ ...turn, id }] : [];
  });
  const turns = all.filter(
    ({ id, turnId }) => wanted === undefined || id === wanted || turnId === wanted,
  );
  if (turns.length > 0) return turns;
  throw new InvalidArgumentError(
    wanted === undefined
      ? `${path} has no turns`
      : `${path} has no turn ${wanted}; there is ${all.map(({ id }) => id).join(', ')}`,
  );
}

function print(
  turn: InspectedTurn,
  differences: readonly TurnDifference[],
  terminal: Terminal,
): void {
  const question = visible(turn.question).replaceAll(/\s+/g, ' ');
  if (differences.length === 0) return terminal.print(`${turn.id}  the same  ${question}`);
  terminal.print(`${turn.id}  differs   ${question}`);
  for (const { part, lines } of differences) {
    terminal.print(`  ${part}`);
    for (const line of lines) terminal.print(`    ${line}`);
  }
}
