import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type Direction = 'request' | 'reply';

/** Connections to break. */
export interface Cut {
  readonly direction: Direction;
  /** Number of bytes that pass before. */
  readonly at: number;
  /** Number of connections that break one after another, each after so many bytes. @default 1 */
  readonly times?: number;
  /** Refuses all connections afterwards. @default false */
  readonly staysDown?: boolean;
}

/** A TCP proxy on the loopback that breaks connections after a number of bytes. */
export class CuttingProxy {
  /** Bytes that passed since the last {@link cutAfter}, and since the last connection that broke. */
  readonly passed: Record<Direction, number> = { request: 0, reply: 0 };
  /** Number of connections that were broken. */
  cuts = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((client) => this.join(client));
  private cut: Cut | undefined;

  constructor(private readonly target: { readonly host: string; readonly port: number }) {}

  /** Resolves with the port. */
  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Takes the place of an earlier cut. */
  cutAfter(cut: Cut): void {
    Object.assign(this.passed, { request: 0, reply: 0 });
    this.cut = cut;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private join(client: Socket): void {
    const server = connect(this.target);
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.setNoDelay(true).on('error', () => undefined);
      socket.on('close', () => (this.sockets.delete(socket), client.destroy(), server.end()));
    }
    client.on('data', (bytes) => this.pass('request', bytes, client, server));
    server.on('data', (bytes) => this.pass('reply', bytes, client, server));
  }

  private pass(direction: Direction, bytes: Buffer, client: Socket, server: Socket): void {
    const to = direction === 'request' ? server : client;
    // a connection that was broken
    if (to.writableEnded) return;
    const left =
      this.cut?.direction === direction ? this.cut.at - this.passed[direction] : Infinity;
    this.passed[direction] += bytes.length;
    to.write(bytes.subarray(0, Math.max(0, left)));
    if (bytes.length >= left) this.break(client, server);
  }

  private break(client: Socket, server: Socket): void {
    const { times = 1, ...cut } = this.cut as Cut;
    this.cuts++;
    Object.assign(this.passed, { request: 0, reply: 0 });
    this.cut = times > 1 ? { ...cut, times: times - 1 } : undefined;
    if (cut.staysDown) this.server.close();
    // the server gets all bytes that passed, and runs what they ask for
    server.end();
    client.end();
  }
}
