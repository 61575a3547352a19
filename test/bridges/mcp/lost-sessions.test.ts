import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ChatClient, McpServerError } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, listed } from '../../support/mcp.js';
import { json, openHttp } from '../../support/mcp-over-http.js';
import { RUNS, type Run } from '../../support/modes.js';

describe('an MCP server that may have lost its session', () => {
  let opened: Awaited<ReturnType<typeof openHttp>> | undefined;

  afterEach(async () => {
    await opened?.close();
  });

  it('gets a new one, and the request again', async () => {
    opened = await openHttp((_method, id, response, count) => {
      if (count === 2) return void response.writeHead(404).end('session not found');
      json(response, id, { contents: [{ text: `answer ${count}` }] });
    });
    await opened.mcp.resource('web', 'x://y');

    const { content } = await opened.mcp.resource('web', 'x://y');

    expect(content).to.equal('answer 3');
    expect(opened.sessions()).to.equal(2);
  });

  it('gets each of several requests again', async () => {
    opened = await openHttp((_method, id, response, count) => {
      if (count <= 2) return void response.writeHead(404).end('session not found');
      json(response, id, { contents: [{ text: 'answer' }] });
    });
    const { mcp } = opened;

    const messages = await Promise.all(['x://y', 'x://z'].map((uri) => mcp.resource('web', uri)));

    expect(messages.map(({ content }) => content)).to.deep.equal(['answer', 'answer']);
    expect(opened.sessions()).to.equal(2);
  });

  it('gets no request again that it still answers', async () => {
    let first: (() => void) | undefined;
    const asked: number[] = [];
    opened = await openHttp((_method, id, response, count) => {
      asked.push(count);
      const answer = (): void => json(response, id, { contents: [{ text: `answer ${count}` }] });
      if (count === 1) first = answer;
      else if (count === 2) response.writeHead(404).end('session not found');
      else answer();
    });
    const { mcp } = opened;
    const slow = mcp.resource('web', 'x://y');
    while (!first) await new Promise((resolve) => setImmediate(resolve));

    const { content } = await mcp.resource('web', 'x://z');
    first();

    expect(content).to.equal('answer 3');
    expect((await slow).content).to.equal('answer 1');
    expect(asked).to.deep.equal([1, 2, 3]);
  });

  it('and never knows one is asked twice, not for ever', async () => {
    let asked = 0;
    opened = await openHttp((_method, _id, response) => {
      asked++;
      response.writeHead(404).end();
    });

    expect(await failureOf(opened.mcp.resource('web', 'x://y'))).to.be.instanceOf(McpServerError);
    expect(asked).to.equal(2);
  });

  const plain = (status: number, text: string) => (response: ServerResponse) =>
    void response.writeHead(status).end(text);
  const answer = (status: number, message: string) => (response: ServerResponse, id: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } }));
  };

  /** The number of times that a server gets one call whose first answer is an error. */
  async function callsOf(
    run: Run,
    fail: (response: ServerResponse, id: unknown) => void,
    { effect = 'write', hasSessions = true } = {},
  ): Promise<number> {
    let calls = 0;
    const annotations = { readOnlyHint: effect === 'read' };
    const respond = (method: string, id: unknown, response: ServerResponse): void => {
      if (method === 'tools/list')
        return json(response, id, { tools: [listed('a', { annotations })] });
      if (++calls === 1) return fail(response, id);
      json(response, id, { content: [] });
    };
    opened = await openHttp(respond, { trusted: true }, hasSessions);
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'web_a' }] }, 'Done.']);
    await run(ChatClient.create(model).prompt('?').tools(opened.mcp));
    return calls;
  }

  for (const [mode, run] of RUNS) {
    for (const [what, fail, hasSessions] of [
      ['400 with the word "session"', answer(400, 'the checkout session was closed'), true],
      ['400 with the word "session" in a page', plain(400, 'the checkout session expired'), true],
      ['404 in an answer to the call', answer(404, 'no such receipt printer'), true],
      ['404 without sessions', answer(404, 'no such receipt printer'), false],
      ['404 without sessions, as a page', plain(404, 'not found'), false],
      ['500', plain(500, 'session store failed'), true],
    ] as const)
      it(`[D96] gets a call with an effect once: ${what}, ${mode}`, async () => {
        expect(await callsOf(run, fail, { hasSessions })).to.equal(1);
      });

    for (const [what, fail, effect] of [
      ['a call with an effect whose session it refused', plain(404, ''), 'write'],
      ['a call without an effect', answer(400, 'No valid session ID provided'), 'read'],
    ] as const)
      it(`[D96] gets ${what} again, in a new session, ${mode}`, async () => {
        expect(await callsOf(run, fail, { effect })).to.equal(2);
        expect(opened?.sessions()).to.equal(2);
      });
  }
});
