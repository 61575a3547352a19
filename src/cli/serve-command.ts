import { MODULE, PORT, portOf } from './arguments.js';
import { command } from './command.js';
import { listen } from './listen.js';
import { isSameText } from './same-text.js';
import { loadClient } from './load-module.js';

export const serveCommand = command({
  name: 'serve',
  description: 'Serve the client of a module as an endpoint of the OpenAI API',
  args: {
    module: MODULE,
    port: { ...PORT, default: '8000' },
    key: {
      type: 'string',
      description: 'Key that callers send; without one every program of this computer has access',
      valueHint: 'text',
    },
  },
  examples: [
    'advisor-chain serve app.ts --port 8000 --key local',
    'OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=local npx some-program',
  ],
  notes:
    'ADVISOR_CHAIN_KEY in the environment is the key, too: others may see the arguments of a process.',
  async run({ args, terminal }) {
    const port = portOf(args.port);
    const key = args.key ?? terminal.env['ADVISOR_CHAIN_KEY'];
    const client = await loadClient(args.module, terminal);
    const { serveOpenAI } = await import('../bridges/serve/index.js');
    const { toNodeHandler } = await import('../bridges/http/index.js');
    const onError = (error: unknown, { id, status }: { id?: string; status: number }): void =>
      terminal.note(`${status} ${id ?? ''} ${String(error)}`);
    const handler = serveOpenAI({
      clients: client,
      onError,
      ...(key !== undefined && { authorize: (given: string) => isSameText(given, key) }),
    });
    if (terminal.signal.aborted) return;
    const { address, close } = await listen(toNodeHandler(handler), port);
    terminal.print(`${address}/v1`);
    terminal.note(
      `The endpoint of ${args.module} is ready${key === undefined ? '' : ', with a key'}; Ctrl-C ends it.`,
    );
    await terminal.interrupted();
    await close();
  },
});
