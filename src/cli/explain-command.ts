import { MODULE } from './arguments.js';
import { command } from './command.js';
import { loadClient } from './load-module.js';

export const explainCommand = command({
  name: 'explain',
  description: 'Print the chain of the client that a module exports, with its warnings',
  args: {
    module: MODULE,
    json: { type: 'boolean', description: 'Print JSON' },
  },
  examples: ['advisor-chain explain app.ts', 'advisor-chain explain app.ts --json | jq .warnings'],
  async run({ args, terminal }) {
    const client = await loadClient(args.module, terminal);
    const explanation = client.explain();
    terminal.print(args.json ? JSON.stringify(explanation, null, 2) : explanation.toString());
  },
});
