import { command } from '../command.js';
import { runChat } from './run-chat.js';

export const chatCommand = command({
  name: 'chat',
  description: 'Chat with a model, with the tools of a module or an MCP server',
  args: {
    module: {
      type: 'positional',
      description: 'File (.js, .mjs, .ts) that exports a ChatClient, or tools',
      required: false,
    },
    model: {
      type: 'string',
      description: 'Model, such as openai:gpt-5-mini; default: the first provider with a key',
      valueHint: 'provider:model',
    },
    system: { type: 'string', description: 'Instructions for the model', valueHint: 'text' },
    mcp: {
      type: 'string',
      description: 'Program or URL of an MCP server whose tools are offered; may be repeated',
      valueHint: 'command',
    },
    memory: {
      type: 'string',
      description: 'SQLite file, postgres://… or redis://… that keeps the conversation',
      valueHint: 'file',
    },
    conversation: {
      type: 'string',
      description: 'Conversation to continue; default: a new one',
      valueHint: 'id',
    },
    approve: {
      type: 'enum',
      options: ['ask', 'writes', 'never'],
      description:
        'Tools that need your approval: all (ask), those that may change something (writes), or none (never); default: writes',
    },
  },
  repeatable: ['mcp'],
  examples: [
    'advisor-chain chat --model openai:gpt-5-mini',
    'advisor-chain chat app.ts --memory chat.db',
    'advisor-chain chat --mcp "npx -y @modelcontextprotocol/server-everything"',
    'echo "What is an advisor?" | advisor-chain chat > answer.txt',
  ],
  notes:
    'At the prompt, /help shows the commands. Input that is no terminal is one question, and the answer is all that is printed on standard output.',
  run: ({ args, all, terminal }) => {
    const { module, model, system, memory, conversation, approve } = args;
    const isInteractive = terminal.input.isTTY === true;
    const settings = { module, model, system, memory, conversation, approve, isInteractive };
    return runChat({ ...settings, mcp: all('mcp') }, terminal);
  },
});
