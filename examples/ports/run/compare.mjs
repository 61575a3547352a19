// Runs the two programs of a pair against the same scripted server. They must print the same, and ask the model the same.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSync } from 'esbuild';
import { startServer } from './chat-server.mjs';
import { PAIRS, SUMMARY } from './pairs.mjs';

const TIMEOUT = 60_000;
/** Programs as JavaScript, beside the packages: a loader of TypeScript would read every module of those. */
const outdir = join(import.meta.dirname, '..', 'node_modules', '.ports');

/** A text may be sent as parts; null if it is empty. A summary stands alone, since each library introduces it in its own words. */
function toText(content) {
  const text = Array.isArray(content) ? content.map((part) => part.text).join('') : content;
  return text?.endsWith(SUMMARY) ? SUMMARY : text || null;
}

/** Messages, tools and model of a request, without the parts in which wires of libraries differ. */
function toQuestion({ model, messages, tools = [], tool_choice = 'auto' }) {
  return {
    model,
    toolChoice: tool_choice,
    tools: tools.map((tool) => tool.function.name),
    messages: messages.map(({ role, content, tool_calls = [] }) => ({
      role,
      content: toText(content),
      calls: tool_calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
    })),
  };
}

async function runProgram(file, answerOf) {
  const server = await startServer(answerOf);
  const program = spawn(process.execPath, [join(outdir, `${file}.js`)], {
    // no setting of the machine changes what a library sends
    env: { PATH: process.env.PATH, BASE_URL: server.address },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: TIMEOUT,
  });
  const ended = new Promise((resolve) => program.once('exit', resolve));
  const printed = await text(program.stdout);
  assert.equal(await ended, 0, `${file} failed\n${printed}`);
  server.stop();
  return { printed: printed.trimEnd().split('\n'), requests: server.requests };
}

const [, , name] = process.argv;
const { answerOf, isCompared, prints, checkRequests } = PAIRS[name];
const programs = ['theirs', 'ours'].map((side) => `${name}-${side}`);
buildSync({
  entryPoints: programs.map((program) => `${program}.ts`),
  outdir,
  format: 'esm',
  logLevel: 'error',
});
const [theirs, ours] = await Promise.all(programs.map((program) => runProgram(program, answerOf)));

assert.deepEqual(ours.printed, theirs.printed);
// two programs that print nothing are equal, too
for (const line of prints) assert(theirs.printed.includes(line), `nothing prints "${line}"`);
assert.deepEqual(
  ...[ours, theirs].map(({ requests }) => requests.filter(isCompared).map(toQuestion)),
);
for (const { requests } of [theirs, ours]) checkRequests(requests);
console.log(`${theirs.printed.length} equal lines, ${theirs.requests.length} model calls`);
