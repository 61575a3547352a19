import { connect } from 'node:net';
import type { Context } from 'mocha';

/** A server that tests need. */
export interface TestServer {
  readonly name: string;
  readonly connection: { readonly host: string; readonly port: number };
}

export const POSTGRES = {
  name: 'PostgreSQL',
  connection: {
    host: '127.0.0.1',
    port: 5432,
    database: 'test',
    user: process.env['PGUSER'] ?? 'root',
  },
} as const;

export const REDIS = { name: 'Redis', connection: { host: '127.0.0.1', port: 6379 } } as const;

/** Skips the tests if the server does not answer; in CI, throws instead. */
export async function hasServer(
  context: Context,
  { name, connection: { host, port } }: TestServer,
): Promise<boolean> {
  const isAvailable = await new Promise<boolean>((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
  if (isAvailable) return true;
  const reason = `${name} does not answer at ${host}:${port}`;
  if (process.env['CI'] === 'true') throw new Error(`${reason}; CI needs it`);
  console.log(`      skipped: ${reason}`);
  context.skip();
}
