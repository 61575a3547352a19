import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { mcpTools } from '../../../src/bridges/mcp/index.js';
import { failureOf, initialized, listed, namesOf, toolsOf } from '../../support/mcp.js';

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** An MCP server behind a login, and its authorization server, on one port. */
async function protectedServer(token: string) {
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => answer(request, body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pages: Readonly<Record<string, object>> = {
    '/.well-known/oauth-protected-resource/mcp': {
      resource: `${origin}/mcp`,
      authorization_servers: [origin],
    },
    '/.well-known/oauth-authorization-server': {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    },
    '/token': { access_token: token, token_type: 'Bearer' },
  };
  const send = (response: ServerResponse, value: object, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  function answer(
    { url = '', method, headers }: IncomingMessage,
    body: string,
    to: ServerResponse,
  ) {
    if (url === '/register')
      return send(to, { ...(JSON.parse(body) as object), client_id: 'app' }, 201);
    if (url !== '/mcp') return pages[url] ? send(to, pages[url]) : to.writeHead(404).end();
    if (headers.authorization !== `Bearer ${token}`) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      to.setHeader('www-authenticate', `Bearer resource_metadata="${metadata}"`);
      return to.writeHead(401).end();
    }
    if (method !== 'POST') return to.writeHead(405).end();
    const message = JSON.parse(body) as { method: string; id?: number; params?: object };
    if (message.id === undefined) return to.writeHead(202).end();
    const { protocolVersion } = (message.params ?? {}) as { readonly protocolVersion?: unknown };
    const result =
      message.method === 'initialize' ? initialized(protocolVersion) : { tools: [listed('a')] };
    return send(to, { jsonrpc: '2.0', id: message.id, result });
  }
  return {
    url: `${origin}/mcp`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Keeps in memory what an application would store; the browser is an address. */
class BrowserLogin implements OAuthClientProvider {
  address: URL | undefined;
  private readonly stored = new Map<string, never>();
  readonly redirectUrl = 'http://127.0.0.1/callback';
  readonly clientMetadata = { client_name: 'app', redirect_uris: [this.redirectUrl] };
  clientInformation = () => this.stored.get('client');
  saveClientInformation = (client: unknown) => void this.stored.set('client', client as never);
  tokens = () => this.stored.get('tokens');
  saveTokens = (tokens: unknown) => void this.stored.set('tokens', tokens as never);
  codeVerifier = () => String(this.stored.get('verifier'));
  saveCodeVerifier = (verifier: string) => void this.stored.set('verifier', verifier as never);
  discoveryState = () => this.stored.get('discovery');
  saveDiscoveryState = (state: unknown) => void this.stored.set('discovery', state as never);
  redirectToAuthorization = (address: URL) => void (this.address = address);
}

describe('an MCP server behind a login', () => {
  let server: Awaited<ReturnType<typeof protectedServer>>;

  beforeEach(async () => {
    server = await protectedServer('secret-token');
  });

  afterEach(() => server.close());

  it('is used with a token of the application', async () => {
    const authProvider = { token: () => Promise.resolve('secret-token') };
    const mcp = mcpTools({ servers: { docs: { url: server.url, authProvider } } });

    const tools = await toolsOf(mcp);
    await mcp.close();

    expect(namesOf(tools)).to.deep.equal(['docs_a']);
  });

  it('sends the user to the login, and is used at once after it', async () => {
    const authProvider = new BrowserLogin();
    const mcp = mcpTools({ servers: { docs: { url: server.url, authProvider } } });

    const error = await failureOf(toolsOf(mcp));
    await mcp.finishAuth('docs', new URLSearchParams({ code: 'from-the-browser' }));
    const tools = await toolsOf(mcp);
    await mcp.close();

    expect(error.cause).to.have.property('name', 'UnauthorizedError');
    expect(authProvider.address?.pathname).to.equal('/authorize');
    expect(namesOf(tools)).to.deep.equal(['docs_a']);
  });

  it('has no login for a program', async () => {
    const mcp = mcpTools({ servers: { files: { command: 'x' } } });

    const error = await failureOf(mcp.finishAuth('files', new URLSearchParams()));

    expect(error.message).to.include('no url');
  });
});
