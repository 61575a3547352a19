// The tool loop in your own hands: look at what the model asks for, decide, run it, ask again.
import {
  ChatClient,
  Prompt,
  ToolCallingManager,
  defineTool,
  toolCallingAutoRegister,
  toolResult,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const list = defineTool({ name: 'list_files', execute: () => ['notes.txt', 'old.log'] });
const remove = defineTool({ name: 'delete_file', execute: () => 'deleted' });
const model = new ScriptedChatModel([
  { toolCalls: [{ name: 'list_files' }] },
  { toolCalls: [{ name: 'delete_file', arguments: { name: 'old.log' } }] },
  'You do not want old.log to be deleted, so nothing was changed.',
]);

// without the advisor that runs tools, their calls come back to you
const client = ChatClient.builder(model).defaultAdvisors(toolCallingAutoRegister(false)).build();
const manager = new ToolCallingManager();

let prompt = new Prompt('Tidy up my files.', { tools: [list, remove] });
let response = await client.prompt(prompt).call().chatClientResponse();

while (response.hasToolCalls()) {
  const result = await manager.executeToolCalls(prompt, response, {
    ...response.tools(),
    wrap: async (invocation, next) => {
      const allowed = invocation.call.name !== 'delete_file';
      console.log(
        `${allowed ? 'run   ' : 'refuse'} ${invocation.call.name}(${invocation.call.arguments})`,
      );
      return allowed
        ? next(invocation)
        : toolResult({ content: 'The user does not allow this.', isError: true });
    },
  });
  prompt = result.prompt; // with the answer of the model and the results of the tools
  response = await client.prompt(prompt).call().chatClientResponse();
}

console.log(`answer ${response.text}`);
console.log(`roles  ${prompt.messages.map(({ role }) => role).join(', ')}`);
