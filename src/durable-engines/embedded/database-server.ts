import { createServer, type Server, type Socket } from 'node:net';
import { acceptGreeting, BYE, HOST, isGreeting } from './control.js';
import { SharedSession, type WireDatabase } from './shared-session.js';
import { WireConnection } from './wire-connection.js';

/** Milliseconds in which the other connections of an application that leaves may end. */
const GOODBYE = 500;
const LOOK = 20;

/** Serves one embedded database to any number of clients of this machine, until none is left. */
export class DatabaseServer {
  private readonly server: Server;
  private readonly session: SharedSession;
  private readonly clients = new Set<WireConnection>();
  private readonly sockets = new Set<Socket>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param idleTimeout milliseconds without a connection after which the process ends
   * @param end called then
   */
  constructor(
    database: WireDatabase,
    private readonly token: string,
    private readonly idleTimeout: number,
    private readonly end: () => void,
  ) {
    this.session = new SharedSession(database, (client) => (client as WireConnection).close());
    this.server = createServer((socket) => this.accept(socket));
  }

  /** Listens at the wanted port if it is free, so that the clients of an earlier process find it. */
  async listen(wanted = 0): Promise<number> {
    const port = await new Promise<number | undefined>((resolve, reject) => {
      this.server.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' && wanted !== 0 ? resolve(undefined) : reject(error),
      );
      this.server.listen(wanted, HOST, () =>
        resolve((this.server.address() as { readonly port: number }).port),
      );
    });
    if (port === undefined) return this.listen();
    this.endWhenIdle();
    return port;
  }

  /** Ends the connections of clients; those of applications end with the process. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.server.close();
    for (const client of this.clients) client.close();
    await this.session.settled();
  }

  private accept(socket: Socket): void {
    clearTimeout(this.timer);
    this.sockets.add(socket.setNoDelay(true));
    // 'close' follows
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.endWhenIdle();
    });
    socket.once('data', (bytes) => {
      if (isGreeting(bytes)) this.keep(socket, bytes);
      else this.serve(socket, bytes);
    });
  }

  /** Lives as long as the application behind a socket. */
  private keep(socket: Socket, greeting: Buffer): void {
    if (!acceptGreeting(socket, greeting, this.token)) return;
    socket.on('data', (bytes) => {
      if (bytes.toString('latin1') === BYE) void this.letGo(socket);
    });
  }

  /** Ends the process if an application that leaves is the last one; else only its connection. */
  private async letGo(socket: Socket): Promise<void> {
    for (let left = GOODBYE; left > 0 && this.sockets.size > 1; left -= LOOK)
      await new Promise((resolve) => setTimeout(resolve, LOOK));
    if (this.sockets.size > 1) socket.end();
    else this.end();
  }

  private serve(socket: Socket, first: Buffer): void {
    const client = new WireConnection(socket, this.session, this.token, (bytes) => {
      for (const each of this.clients) each.send(bytes);
    });
    this.clients.add(client);
    const receive = (bytes: Buffer): void => void client.receive(bytes).catch(fail);
    socket.on('data', receive);
    socket.on('close', () => {
      this.clients.delete(client);
      this.session.leave(client).catch(fail);
    });
    receive(first);
  }

  private endWhenIdle(): void {
    clearTimeout(this.timer);
    if (this.sockets.size > 0) return;
    this.timer = setTimeout(this.end, this.idleTimeout);
  }
}

/** The database cannot go on: the applications start the process again, which recovers it. */
function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
