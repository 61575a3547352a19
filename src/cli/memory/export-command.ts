import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { command } from '../command.js';
import { idsOf } from './conversations.js';
import { MEMORY_ARGS, withMemory } from './memory-options.js';

export const exportCommand = command({
  name: 'export',
  description: 'Write the messages as lines of JSON: { conversation, version, turnId, message }',
  args: {
    ...MEMORY_ARGS,
    conversation: {
      type: 'string',
      alias: 'c',
      description: 'Id of one conversation',
      valueHint: 'id',
    },
    out: {
      type: 'string',
      alias: 'o',
      description: 'File to write (Default: output)',
      valueHint: 'file',
    },
  },
  examples: ['advisor-chain memory export --memory chat.db --out chat.jsonl'],
  async run({ args, terminal }) {
    await withMemory(args, terminal, async (memory) => {
      // made only when the memory is open; an existing file is not replaced by an error
      const file =
        args.out === undefined ? undefined : createWriteStream(resolve(terminal.cwd, args.out));
      const done = file && finished(file);
      const write = (line: string): void =>
        void (file ? file.write(`${line}\n`) : terminal.print(line));
      let [conversations, messages] = [0, 0];
      for await (const conversation of idsOf(memory, args.conversation)) {
        if (terminal.signal.aborted) break;
        terminal.progress(`conversations: ${conversations++}, messages: ${messages}`);
        for (const each of (await memory.read(conversation)).messages) {
          messages++;
          write(JSON.stringify({ conversation, ...each }));
        }
      }
      file?.end();
      await done;
      terminal.note(`conversations: ${conversations}, messages: ${messages}`);
    });
  },
});
