import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type Direction = 'request' | 'reply';

/** A TCP proxy on the loopback that breaks connections after a number of bytes. */
export class CuttingProxy {
  /** Bytes that passed since the last {@link cutAfter}. */
  readonly passed: Record<Direction, number> = { request: 0, reply: 0 };
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((client) => this.join(client));
  private cut: { readonly direction: Direction; readonly at: number } | undefined;
  private staysDown = false;

  constructor(private readonly target: { readonly host: string; readonly port: number }) {}

  /** Resolves with the port. */
  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Breaks the connection once, when so many bytes have passed; then lets all pass, or none. */
  cutAfter(direction: Direction, at: number, staysDown = false): void {
    Object.assign(this.passed, { request: 0, reply: 0 });
    this.cut = { direction, at };
    this.staysDown = staysDown;
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
    const left =
      this.cut?.direction === direction ? this.cut.at - this.passed[direction] : Infinity;
    this.passed[direction] += bytes.length;
    if (!to.destroyed) to.write(bytes.subarray(0, left));
    if (bytes.length < left) return;
    this.cut = undefined;
    if (this.staysDown) this.server.close();
    // the server gets all bytes that passed, and runs what they ask for
    server.end();
    client.end();
  }
}
