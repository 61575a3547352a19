import { confirm } from '../confirm.js';
import { command, EXIT } from '../command.js';
import { visible } from '../terminal.js';
import { UsageError } from '../usage-error.js';
import { idsOf } from './conversations.js';
import { MEMORY_ARGS, withMemory } from './memory-options.js';

export const deleteCommand = command({
  name: 'delete',
  description: 'Delete a conversation, or all of them',
  args: {
    ...MEMORY_ARGS,
    conversation: {
      type: 'string',
      alias: 'c',
      description: 'Id of a conversation',
      valueHint: 'id',
    },
    all: { type: 'boolean', description: 'All conversations of the memory' },
    yes: { type: 'boolean', alias: 'y', description: 'Do not ask' },
  },
  notes: 'It asks first; in a pipe, where it cannot, --yes is needed.',
  examples: ['advisor-chain memory delete --memory chat.db --conversation anna-7'],
  async run({ args, terminal }) {
    const { conversation, all, yes } = args;
    if ((conversation === undefined) !== Boolean(all))
      throw new UsageError('give either --conversation or --all');
    if (!yes && !terminal.isInteractive)
      throw new UsageError('this is no terminal to ask on: --yes deletes without a question');
    return await withMemory(args, terminal, async (memory) => {
      const ids: string[] = [];
      for await (const id of idsOf(memory, conversation)) ids.push(id);
      if (
        conversation !== undefined &&
        (await memory.read(conversation, { limit: 0 })).version === 0
      ) {
        terminal.note(`Error: there is no conversation "${visible(conversation)}"`);
        return EXIT.failed;
      }
      const name =
        conversation === undefined
          ? `all ${ids.length} conversations`
          : `conversation "${visible(conversation)}"`;
      if (!yes && !(await confirm(`Delete ${name}?`, terminal))) {
        terminal.note('Nothing is deleted.');
        return EXIT.failed;
      }
      let deleted = 0;
      for (const id of ids) {
        if (terminal.signal.aborted) break;
        terminal.progress(`${deleted} of ${ids.length} deleted`);
        await memory.delete(id);
        deleted++;
      }
      terminal.note(`${deleted} of ${ids.length} conversations deleted`);
      return EXIT.ok;
    });
  },
});
