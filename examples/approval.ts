// Approvals on the command line: each call that is not allowed by itself is decided at the terminal. Without a terminal, as in
// CI, the answers are scripted.
import { createInterface } from 'node:readline/promises';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  oneAtATime,
  textOf,
  type Decision,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const files = new Set(['draft.txt', 'photo.jpg', 'notes.md', 'notes.old.md', 'taxes.pdf']);
const list = defineTool({ name: 'list', effect: 'read', execute: () => [...files] });
const remove = defineTool({
  name: 'remove',
  effect: 'write',
  input: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
  execute: ({ file }) => (files.delete(String(file)) ? `removed ${String(file)}` : 'no such file'),
});

// a model of your choice takes its place
const model = new ScriptedChatModel([
  { toolCalls: [{ name: 'list' }] },
  {
    toolCalls: ['draft.txt', 'photo.jpg', 'notes.md', 'taxes.pdf'].map((file) => ({
      name: 'remove',
      arguments: { file },
    })),
  },
  'I have tidied up.',
]);

const SCRIPT = ['y', 'n keep my photos', 'e {"file":"notes.old.md"}'];
const terminal = process.stdin.isTTY
  ? createInterface({ input: process.stdin, output: process.stdout })
  : undefined;

async function ask(question: string, signal: AbortSignal): Promise<string> {
  const text = `${question} [y]es, [n]o <reason>, [e]dit <arguments> `;
  if (terminal) return terminal.question(text, { signal });
  const answer = SCRIPT.shift() ?? 'n';
  console.log(`${text}${answer}`);
  return answer;
}

function toDecision(answer: string): Decision {
  const [, letter, text] = /^(\w)\w*\s*(.*)$/.exec(answer.trim()) ?? [];
  if (letter === 'y') return { type: 'allow', by: 'you' };
  if (letter === 'e')
    return { type: 'edit', arguments: JSON.parse(text ?? '') as never, by: 'you' };
  return { type: 'deny', reason: text || 'no reason', by: 'you' };
}

const approval = new ApprovalAdvisor({
  policy: {
    remove: ({ arguments: args }) =>
      JSON.stringify(args).includes('taxes')
        ? { type: 'deny', reason: 'Taxes are kept for ten years.' }
        : undefined,
  },
  decide: oneAtATime(async (request, { signal }) => {
    if (request.type === 'question') return { type: 'cancel' };
    // as JSON: a name must not look like another one
    const shown = `${request.toolName} ${JSON.stringify(request.arguments)}`;
    return toDecision(
      await ask(request.problem ? `${request.problem} ${shown}?` : `${shown}?`, signal),
    );
  }),
});

const client = ChatClient.builder(model)
  .defaultTools(list, remove)
  .defaultAdvisors(approval)
  .build();
for await (const event of client.prompt('Tidy up my folder.').stream().events())
  if (event.type === 'tool-result')
    console.log(`  ${event.call.name}: ${textOf(event.result.content)}`);
  else if (event.type === 'response') console.log(event.response.text);
console.log(`left: ${[...files].join(', ')}`);
terminal?.close();
