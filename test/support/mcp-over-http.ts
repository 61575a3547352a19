import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mcpTools, type McpEndpoint, type McpServerSettings } from '../../src/bridges/mcp/index.js';
import { initialized } from './mcp.js';

/** An HTTP server of hand-written answers, by the method of the request. */
export async function openHttp(
  answer: (method: string, id: unknown, response: ServerResponse, count: number) => void,
  settings: McpServerSettings & Pick<McpEndpoint, 'requestInit'> = {},
  hasSessions = true,
) {
  let initializations = 0;
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { method, id, params } = JSON.parse(body) as {
        readonly method: string;
        readonly id?: unknown;
        readonly params?: { readonly protocolVersion?: unknown };
      };
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'initialize') {
        const headers = { 'mcp-session-id': `session-${++initializations}` };
        const result = initialized(params?.protocolVersion);
        return json(response, id, result, hasSessions ? headers : {});
      }
      const count = (counts.get(method) ?? 0) + 1;
      counts.set(method, count);
      answer(method, id, response, count);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const mcp = mcpTools({ servers: { web: { url: `http://127.0.0.1:${port}/mcp`, ...settings } } });
  return {
    mcp,
    sessions: () => initializations,
    async close() {
      await mcp.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Answers by JSON. */
export function json(response: ServerResponse, id: unknown, result: object, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** Begins a stream of events. */
export function events(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}
