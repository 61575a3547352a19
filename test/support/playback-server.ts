import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Framing, Json, RecordedResponse } from './cassettes.js';

/** A run against the server: its own address, the requests it has sent. */
export interface Playback {
  readonly baseURL: string;
  readonly requests: readonly Json[];
}

/** Serves recorded answers over loopback, the k-th answer to the k-th request of a run. */
export class PlaybackServer {
  private readonly runs: {
    readonly responses: readonly RecordedResponse[];
    readonly requests: Json[];
  }[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.serve(request, response));
  }

  static async start(): Promise<PlaybackServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new PlaybackServer(server);
  }

  play(responses: readonly RecordedResponse[]): Playback {
    const requests: Json[] = [];
    const id = this.runs.push({ responses, requests }) - 1;
    return {
      baseURL: `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${id}/v1`,
      requests,
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const run = this.runs[Number(request.url?.split('/')[1])];
    const body = await request
      .setEncoding('utf8')
      .reduce((text, piece: string) => text + piece, '');
    const recorded = run?.responses[run.requests.push(JSON.parse(body) as Json) - 1];
    if (!recorded)
      return void response
        .writeHead(418, { 'content-type': 'application/json' })
        .end('{"error":{"message":"one request too many"}}');
    response.writeHead(recorded.status, {
      ...recorded.headers,
      'content-type': recorded.contentType,
    });
    response.end(bodyText(recorded));
  }
}

/** The body of a recorded answer as it went over the wire. */
export function bodyText({ body, text, sse, ndjson, sseFraming }: RecordedResponse): string {
  if (ndjson) return ndjson.map((line) => `${line}\n`).join('');
  return sse ? sseText(sse, sseFraming) : (text ?? JSON.stringify(body));
}

function sseText(
  payloads: readonly string[],
  { eol, space, events, comments }: Framing = {},
): string {
  const end = eol?.includes('r') ? '\r\n' : '\n';
  return payloads
    .map((payload, at) => {
      const before = (comments ?? [])
        .filter((comment) => comment.before === at)
        .map(({ text }) => `: ${text}${end}${end}`);
      const name = events?.[at] ? `event: ${events[at]}${end}` : '';
      return `${before.join('')}${name}data:${space === false ? '' : ' '}${payload}${end}${end}`;
    })
    .join('');
}
