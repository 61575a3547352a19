import type { ArgsDef } from 'citty';
import { openMemory, type OpenMemory } from '../open-memory.js';
import type { Terminal } from '../terminal.js';

/** Options of all commands of a memory. */
export const MEMORY_ARGS = {
  memory: {
    type: 'string',
    alias: 'm',
    description: 'Store: a file of SQLite, postgres://… or redis://…',
    valueHint: 'address',
    required: true,
  },
  prefix: {
    type: 'string',
    description: 'Prefix of the tables or keys (Default: as the store has it)',
    valueHint: 'text',
  },
} as const satisfies ArgsDef;

/** Opens the memory for an action, and closes it at its end. */
export async function withMemory<T>(
  args: { readonly memory: string; readonly prefix?: string | undefined },
  terminal: Terminal,
  act: (memory: OpenMemory['repository']) => Promise<T>,
): Promise<T> {
  terminal.progress(`opening the memory`);
  const { repository, close } = await openMemory(args.memory, terminal, { prefix: args.prefix });
  try {
    return await act(repository);
  } finally {
    terminal.clearProgress();
    await close();
  }
}
