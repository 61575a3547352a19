import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  type Decision,
  type PendingRequest,
} from '../../../src/index.js';
import { mcpTools, type McpServer, type McpTools } from '../../../src/bridges/mcp/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { resultsOf } from '../../support/approval.js';
import { failureOf, initialized, namesOf, resultOf, toolsOf } from '../../support/mcp.js';

const SCRIPT = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);

const PROGRAM = {
  command: process.execPath,
  args: [SCRIPT, 'stdio'],
  stderr: 'ignore',
} as const;

const ASKING = {
  onElicitation: () => ({ action: 'accept', content: { name: 'Anna', check: true } }) as const,
  onSampling: () =>
    ({ model: 'm', role: 'assistant', content: { type: 'text', text: 'Roses are red.' } }) as const,
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts the server behind HTTP; resolves when it listens. */
async function startHttp(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SCRIPT, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of child.stderr) if (/listening/.test(String(line))) break;
  return child;
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('the official server-everything', () => {
  let port: number;
  let child: ChildProcess | undefined;

  before(async () => {
    port = await freePort();
    child = await startHttp(port);
  });

  after(() => stop(child));

  for (const [transport, address] of [
    ['stdio', () => PROGRAM],
    ['streamable HTTP', () => ({ url: `http://127.0.0.1:${port}/mcp` })],
  ] as readonly (readonly [string, () => McpServer])[])
    describe(`over ${transport}`, () => {
      let mcp: McpTools;

      before(() => {
        mcp = mcpTools({ servers: { all: { ...address(), ...ASKING, trusted: true } } });
      });

      after(() => mcp.close());

      it('offers all its tools, with their effects', async () => {
        const tools = await toolsOf(mcp);

        expect(namesOf(tools)).to.include.members([
          'all_echo',
          'all_get-sum',
          'all_get-tiny-image',
          'all_get-structured-content',
          'all_trigger-long-running-operation',
          'all_get-resource-links',
        ]);
        expect(new Set(tools.map(({ metadata }) => metadata.effect))).to.include('read');
      });

      it('runs tools with text, media, links and structured results', async () => {
        const echo = await resultOf(mcp, 'all_echo', { message: 'Hello.' });
        const sum = await resultOf(mcp, 'all_get-sum', { a: 2, b: 3 });
        const image = await resultOf(mcp, 'all_get-tiny-image');
        const links = await resultOf(mcp, 'all_get-resource-links', { count: 2 });
        const weather = await resultOf(mcp, 'all_get-structured-content', { location: 'New York' });

        expect(echo.text).to.equal('Echo: Hello.');
        expect(sum.text).to.include('5');
        expect(image.content).to.be.an('array');
        expect(JSON.stringify(image.content)).to.include('"mediaType":"image/png"');
        expect(links.text).to.include('demo://');
        expect(JSON.parse(weather.text)).to.have.property('temperature');
      });

      it('reports progress, and stops when the run is cancelled', async () => {
        const model = new ScriptedChatModel([
          {
            toolCalls: [
              {
                name: 'all_trigger-long-running-operation',
                arguments: { duration: 60, steps: 600 },
              },
            ],
          },
        ]);
        const abort = new AbortController();
        const progress: unknown[] = [];
        const run = async (): Promise<void> => {
          const spec = ChatClient.create(model).prompt('?').tools(mcp).signal(abort.signal);
          for await (const event of spec.stream().events()) {
            if (event.type !== 'tool-progress') continue;
            progress.push(event.data);
            if (progress.length === 3) abort.abort();
          }
        };

        expect((await failureOf(run())).code).to.equal('cancelled');
        expect(progress).to.deep.equal([1, 2, 3].map((step) => ({ progress: step, total: 600 })));
        expect((await resultOf(mcp, 'all_echo', { message: 'Still here.' })).text).to.include(
          'Still here.',
        );
      });

      it('asks the user and a model through the application', async () => {
        const asked = await resultOf(mcp, 'all_trigger-elicitation-request');
        const sampled = await resultOf(mcp, 'all_trigger-sampling-request', { prompt: 'A poem.' });

        expect(asked.text).to.include('Anna');
        expect(sampled.text).to.include('Roses are red.');
      });

      it('[D97] asks the person of each call, also while another leaves a question open', async () => {
        const asking = mcpTools({ servers: { all: { ...address(), onElicitation: 'ask' } } });
        const asked: string[] = [];
        const turn = (user: string, answer: () => Promise<Decision>, signal?: AbortSignal) => {
          const decide = (request: PendingRequest): Promise<Decision> => {
            if (request.type === 'approval') return Promise.resolve({ type: 'allow' });
            asked.push(user);
            return answer();
          };
          const toolCalls = [{ name: 'all_trigger-elicitation-request' }];
          const model = new ScriptedChatModel([{ toolCalls }, 'Done.']);
          const spec = ChatClient.builder(model)
            .defaultAdvisors(new ApprovalAdvisor({ decide }))
            .build()
            .prompt('?')
            .tools(asking);
          const text = (signal ? spec.signal(signal) : spec).call().content();
          return text.then(() => String(resultsOf(model)[0]));
        };
        const abort = new AbortController();
        const anna = failureOf(turn('anna', () => new Promise(() => undefined), abort.signal));
        while (asked.length === 0) await new Promise(setImmediate);

        const value = { name: 'Bob', check: true };
        const bob = await turn('bob', () => Promise.resolve({ type: 'answer', value }));
        abort.abort();

        expect(bob).to.include('Bob');
        expect((await anna).code).to.equal('cancelled');
        expect(asked).to.deep.equal(['anna', 'bob']);
        await asking.close();
      });

      it('has resources and prompts', async () => {
        const client = await mcp.client('all');
        const { resources } = await client.listResources();

        const { content } = await mcp.resource('all', resources[0]?.uri ?? '');
        const prompt = await mcp.prompt('all', 'args-prompt', { city: 'Rome' });

        expect(content).to.be.a('string').and.not.equal('');
        expect(prompt).to.deep.equal([{ role: 'user', content: "What's weather in Rome?" }]);
      });
    });

  it('behind HTTP may start again between two turns', async () => {
    const server = { url: `http://127.0.0.1:${port}/mcp`, trusted: true };
    const mcp = mcpTools({ servers: { all: server } });
    await resultOf(mcp, 'all_echo', { message: 'one' });
    await stop(child);
    child = await startHttp(port);

    const { text } = await resultOf(mcp, 'all_echo', { message: 'two' });
    await mcp.close();

    expect(text).to.equal('Echo: two');
  });

  it('as a program gets no variables of the environment but those it needs', async () => {
    process.env['ADVISOR_CHAIN_SECRET'] = 'hunter2';
    const mcp = mcpTools({ servers: { all: { ...PROGRAM, env: { GIVEN: 'yes' } } } });
    const { text } = await resultOf(mcp, 'all_get-env');
    await mcp.close();
    delete process.env['ADVISOR_CHAIN_SECRET'];

    expect(text).to.include('GIVEN').and.not.include('hunter2');
  });

  it('answers a connected client of the older package', async () => {
    const client = new OlderClient({ name: 'older', version: '1' });
    await client.connect(new OlderTransport({ ...PROGRAM, args: [...PROGRAM.args] }));
    const mcp = mcpTools({ servers: { all: { client } } });

    const { text } = await resultOf(mcp, 'all_echo', { message: 'Hello.' });
    const long = resultOf(mcp, 'all_trigger-long-running-operation', { duration: 0.01, steps: 2 });

    expect((await long).text).to.include('completed');
    await client.close();
    expect(text).to.equal('Echo: Hello.');
  });
});

/** A program that answers the handshake, and runs code for each later request. */
const program = (onRequest: string): McpServer => ({
  command: process.execPath,
  stderr: 'ignore',
  args: [
    '--eval',
    `const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
     const tools = [{ name: 'a', inputSchema: { type: 'object' } }];
     let text = '';
     process.stdin.on('data', (chunk) => {
       text += chunk;
       const lines = text.split('\\n');
       text = lines.pop();
       for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
         if (method === 'initialize') send(id, ${JSON.stringify(initialized('2025-06-18'))});
         else if (method === 'tools/list') send(id, { tools });
         else if (id !== undefined) { ${onRequest} }
       }
     });`,
  ],
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a hostile program', () => {
  let mcp: McpTools;
  const open = (server: McpServer): McpTools => (mcp = mcpTools({ servers: { bad: server } }));

  afterEach(() => mcp.close());

  it('that crashes during a call fails the call, and is started again', async () => {
    open(program('process.exit(1)'));

    const error = await failureOf(mcp.resource('bad', 'x://y'));

    expect(error.code).to.equal('mcp_server');
    expect(namesOf(await toolsOf(mcp))).to.deep.equal(['bad_a']);
  });

  it('that writes 10 MB fails the call with a typed error, and is started again', async () => {
    open(program("send(id, { contents: [{ text: 'x'.repeat(10_000_000) }] })"));

    const error = await failureOf(mcp.resource('bad', 'x://y'));

    expect(error).to.deep.include({ code: 'limit_exceeded', option: 'maxMessageBytes' });
    expect(namesOf(await toolsOf(mcp))).to.deep.equal(['bad_a']);
  });

  it('that writes no messages of the protocol is ignored until its answer', async () => {
    open(
      program(
        'process.stdout.write(\'hello\\n{}\\n{"jsonrpc":"2.0"}\\n\'); send(id, { contents: [{ text: \'Hi.\' }] })',
      ),
    );

    expect((await mcp.resource('bad', 'x://y')).content).to.equal('Hi.');
  });

  it('that never answers is ended when it is closed, also if it ignores signals', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['--eval', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"],
      stderr: 'ignore',
    });
    open({ transport: () => transport, timeout: 300 });
    const failed = failureOf(toolsOf(mcp));
    while (transport.pid === null) await new Promise(setImmediate);
    const { pid } = transport;

    expect((await failed).message).to.include('300 ms');
    await mcp.close();
    // it was killed; the system needs a moment to remove it
    while (isRunning(pid)) await new Promise(setImmediate);
  });

  it('that does not exist fails with its name', async () => {
    open({ command: 'no-such-program' });

    expect((await failureOf(toolsOf(mcp))).message).to.match(/"bad".*no-such-program/);
  });
});
