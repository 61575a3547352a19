import type { ChatClient } from '../index.js';
import type { Inspector } from '../bridges/inspector/index.js';
import { MODULE, PORT, portOf } from './arguments.js';
import { command } from './command.js';
import { loadClient } from './load-module.js';

export const inspectCommand = command({
  name: 'inspect',
  description: 'Open a page that draws the chain of a module, and shows its turns as they happen',
  args: {
    module: MODULE,
    port: { ...PORT, default: '0' },
  },
  examples: ['advisor-chain inspect app.ts'],
  notes:
    'Open the address that it prints; its token gives access. If the client has an Inspector, the page shows the turns of the module, too.',
  async run({ args, terminal }) {
    const port = portOf(args.port);
    const client = await loadClient(args.module, terminal);
    const { startInspector } = await import('./start-inspector.js');
    if (terminal.signal.aborted) return;
    const inspector = inspectorOf(client);
    const started = await startInspector(client, { port, ...(inspector && { inspector }) });
    terminal.print(started.url);
    terminal.note(`The inspector of ${args.module} is ready; Ctrl-C ends it.`);
    await terminal.interrupted();
    await started.close();
  },
});

/** The inspector among the advisors of a client. */
function inspectorOf(client: ChatClient): Inspector | undefined {
  const { advisors = [] } =
    (client.prompt() as { readonly settings?: { readonly advisors?: readonly object[] } })
      .settings ?? {};
  const found = advisors.find((each) => (each as { readonly name?: unknown }).name === 'inspector');
  return found as Inspector | undefined;
}
