import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '../../src/bridges/http/index.js';
import { Inspector, inspectorHandler } from '../../src/bridges/inspector/index.js';
import type { ChatClient } from '../../src/index.js';

/** An inspector with its page on a port of this computer, as an application has it. */
export class InspectedApp {
  private constructor(
    private readonly server: Server,
    readonly inspector: Inspector,
    /** With the token, which a browser opens first. */
    readonly address: string,
  ) {}

  /** @param clientOf makes the client of the turns that the page starts */
  static async start(clientOf?: (inspector: Inspector) => ChatClient): Promise<InspectedApp> {
    // tests run as in production
    const inspector = new Inspector({ allowInProduction: true });
    const client = clientOf?.(inspector);
    const handler = inspectorHandler(inspector, { client, allowInProduction: true });
    const server = createServer((request, response) => {
      void toNodeHandler(handler)(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new InspectedApp(server, inspector, `http://127.0.0.1:${port}/?token=${handler.token}`);
  }

  get origin(): string {
    return new URL(this.address).origin;
  }

  /** Resolves when no turn runs, and page and inspector have the same. */
  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
