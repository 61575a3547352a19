import { integerOf } from '../arguments.js';
import { command } from '../command.js';
import { visible } from '../terminal.js';
import { idsOf, textOfMessage } from './conversations.js';
import { MEMORY_ARGS, withMemory } from './memory-options.js';

/** Characters around a match. */
const CONTEXT = 60;

export const searchCommand = command({
  name: 'search',
  description: 'Find a text in the messages, without regard to upper and lower case',
  args: {
    text: { type: 'positional', description: 'Text to find', required: true },
    ...MEMORY_ARGS,
    conversation: {
      type: 'string',
      alias: 'c',
      description: 'Id of one conversation',
      valueHint: 'id',
    },
    limit: {
      type: 'string',
      description: 'Maximum number of matches',
      default: '50',
      valueHint: 'number',
    },
    json: { type: 'boolean', description: 'Print a line of JSON for each match' },
  },
  examples: ['advisor-chain memory search "refund" --memory chat.db'],
  async run({ args, terminal }) {
    const limit = integerOf('--limit', args.limit, 1);
    const wanted = args.text.toLowerCase();
    await withMemory(args, terminal, async (memory) => {
      let [found, searched] = [0, 0];
      for await (const id of idsOf(memory, args.conversation)) {
        if (terminal.signal.aborted || found >= limit) break;
        terminal.progress(`${searched++} conversations, ${found} matches`);
        const { messages } = await memory.read(id);
        for (const { version, message } of messages) {
          const text = textOfMessage(message);
          const at = text.toLowerCase().indexOf(wanted);
          if (at < 0 || found >= limit) continue;
          found++;
          const match = {
            conversation: id,
            version,
            role: message.role,
            text: around(text, at, wanted.length),
          };
          terminal.print(args.json ? JSON.stringify(match) : line(match));
        }
      }
      if (found === 0) terminal.note('No message has this text.');
      else if (found >= limit) terminal.note(`The first ${limit} matches; --limit gives more.`);
    });
  },
});

function around(text: string, at: number, length: number): string {
  const from = Math.max(0, at - CONTEXT);
  const to = Math.min(text.length, at + length + CONTEXT);
  const part = text.slice(from, to).replaceAll(/\s+/g, ' ').toWellFormed();
  return `${from > 0 ? '…' : ''}${part}${to < text.length ? '…' : ''}`;
}

function line(match: {
  conversation: string;
  version: number;
  role: string;
  text: string;
}): string {
  const { conversation, version, role, text } = match;
  return `${visible(conversation)} ${version} ${role}: ${visible(text)}`;
}
