import { integerOf } from '../arguments.js';
import { command, EXIT } from '../command.js';
import { visible } from '../terminal.js';
import { formatMessage, idsOf } from './conversations.js';
import { MEMORY_ARGS, withMemory } from './memory-options.js';

export const showCommand = command({
  name: 'show',
  description: 'List the conversations, or print the messages of one',
  args: {
    ...MEMORY_ARGS,
    conversation: {
      type: 'string',
      alias: 'c',
      description: 'Id of a conversation',
      valueHint: 'id',
    },
    limit: { type: 'string', description: 'Newest messages of it', valueHint: 'number' },
    json: { type: 'boolean', description: 'Print JSON' },
  },
  examples: [
    'advisor-chain memory show --memory chat.db',
    'advisor-chain memory show --memory chat.db --conversation anna-7 --limit 20',
  ],
  async run({ args, terminal }) {
    const { conversation, json } = args;
    const limit = args.limit === undefined ? undefined : integerOf('--limit', args.limit, 1);
    return await withMemory(args, terminal, async (memory) => {
      if (conversation === undefined) {
        const ids: string[] = [];
        for await (const id of idsOf(memory, undefined)) {
          if (terminal.signal.aborted) break;
          ids.push(id);
          if (!json) terminal.print(visible(id));
        }
        if (json) terminal.print(JSON.stringify(ids, null, 2));
        else if (ids.length === 0) terminal.note('The memory has no conversations.');
        return EXIT.ok;
      }
      const log = await memory.read(conversation, { ...(limit && { limit }) });
      if (log.version === 0) {
        terminal.note(`Error: there is no conversation "${visible(conversation)}"`);
        return EXIT.failed;
      }
      if (json) terminal.print(JSON.stringify(log, null, 2));
      else for (const message of log.messages) terminal.print(formatMessage(message));
      return EXIT.ok;
    });
  },
});
