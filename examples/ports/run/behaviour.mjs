// Statements of the pages about other libraries ("Other behaviour behind equal names"), each seen to be true of the installed versions.
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Command, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { hasToolCall, stepCountIs, streamText, tool } from 'ai';
import { createAgent, humanInTheLoopMiddleware, tool as langChainTool } from 'langchain';
import { z } from 'zod';
import { startServer } from './chat-server.mjs';

const fails = { description: 'Fails.', inputSchema: z.object({}) };
const failing = () => {
  throw new Error('the database is down');
};
const askToFail = { text: 'I try.', calls: [['fails', {}]] };

/** A stream of the AI SDK against a server that gives these answers in turn. */
async function streamWith(answers, settings, read) {
  const server = await startServer((_, earlier) => answers[earlier.length]);
  const provider = createOpenAICompatible({ name: 'local', baseURL: server.address });
  const tools = { fails: tool({ ...fails, execute: failing }) };
  const errors = [];
  const result = streamText({
    model: provider('any'),
    prompt: 'Hello',
    tools,
    maxRetries: 0,
    onError: ({ error }) => errors.push(error),
    ...settings,
  });
  const texts = [];
  for await (const text of result.textStream) texts.push(text);
  server.stop();
  await read({ result, texts, errors, requests: server.requests });
}

/** An agent of LangChain with a refund that waits for a person, and a tool that reads. */
async function agentWith(answerOf, use) {
  const server = await startServer(answerOf);
  const runs = [];
  const toTool = (name, run) =>
    langChainTool(run, { name, description: name, schema: z.object({ of: z.string() }) });
  const recorded = (name) =>
    toTool(name, ({ of }) => {
      runs.push(`${name} ${of}`);
      return 'Done.';
    });
  const agent = createAgent({
    model: new ChatOpenAI({
      model: 'any',
      apiKey: 'none',
      maxRetries: 0,
      configuration: { baseURL: server.address },
    }),
    tools: [recorded('refund'), recorded('look'), toTool('fails', failing)],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { refund: true } })],
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: 'one' } };
  const ask = (content) => agent.invoke({ messages: [{ role: 'user', content }] }, thread);
  const approve = () =>
    agent.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), thread);
  await use({ ask, approve, runs, requests: server.requests });
  server.stop();
}

const refundThenText = ({ messages }) =>
  messages.at(-1).role === 'tool'
    ? { text: 'Done.' }
    : {
        calls: [
          ['look', { of: '42' }],
          ['refund', { of: '42' }],
        ],
      };

const STATEMENTS = {
  'AI SDK: without a stop condition there is one step': () =>
    streamWith([askToFail], {}, async ({ result, requests }) => {
      assert.equal(requests.length, 1);
      assert.equal(await result.finishReason, 'tool-calls');
      assert.equal(await result.text, 'I try.');
    }),
  'AI SDK: a call that failed stops the turn, too': () =>
    streamWith([askToFail], { stopWhen: hasToolCall('fails') }, ({ requests }) =>
      assert.equal(requests.length, 1),
    ),
  'AI SDK: texts of steps are joined, and the model reads the message of an error': () =>
    streamWith(
      [askToFail, { text: 'It failed.' }],
      { stopWhen: stepCountIs(2) },
      ({ texts, requests }) => {
        assert.equal(texts.join(''), 'I try.It failed.');
        assert.equal(requests[1].messages.at(-1).content, 'the database is down');
      },
    ),
  'AI SDK: a stream of texts that fails ends without an error': () =>
    streamWith([{ status: 400 }], {}, ({ texts, errors }) => {
      assert.deepEqual(texts, []);
      assert.equal(errors.length, 1);
    }),
  'LangChain: calls beside one that waits wait, too, and two resumes run it twice': () =>
    agentWith(refundThenText, async ({ ask, approve, runs }) => {
      const { __interrupt__: interrupts } = await ask('Refund it.');
      assert.equal(interrupts.length, 1);
      assert.deepEqual(runs, []);
      await Promise.all([approve(), approve()]);
      assert.equal(runs.filter((run) => run === 'refund 42').length, 2);
    }),
  'LangChain: a new question leaves the call without a result': () =>
    agentWith(refundThenText, async ({ ask, requests }) => {
      await ask('Refund it.');
      await ask('Hello?');
      const roles = requests.at(-1).messages.map(({ role }) => role);
      assert.deepEqual(roles, ['user', 'assistant', 'user']);
    }),
  'LangChain: the model reads the message of an error': () =>
    agentWith(
      (_, { length }) => (length === 0 ? { calls: [['fails', { of: '' }]] } : { text: 'Done.' }),
      async ({ ask, requests }) => {
        await ask('Fail.');
        assert.match(requests.at(-1).messages.at(-1).content, /the database is down/);
      },
    ),
  'LangChain: an endless turn is an error after 9 model calls with one middleware': () =>
    agentWith(
      (_, { length }) => ({ calls: [['look', { of: `${length}` }]] }),
      async ({ ask, requests }) => {
        await assert.rejects(ask('Look.'), { name: 'GraphRecursionError' });
        assert.equal(requests.length, 9);
      },
    ),
};

for (const [statement, check] of Object.entries(STATEMENTS)) {
  try {
    await check();
  } catch (error) {
    throw new Error(`not true: ${statement}`, { cause: error });
  }
}
console.log(`${Object.keys(STATEMENTS).length} statements`);
