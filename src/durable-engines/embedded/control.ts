import { connect, type Socket } from 'node:net';
import type { ServerAddress } from './server-file.js';

export const HOST = '127.0.0.1';
/** First word of a connection that is none of a client of the database: it keeps the server running. */
const GREETING = 'advisor-chain';
const READY = 'ready\n';
export const BYE = 'bye\n';
/** Milliseconds in which a server answers. */
const TIMEOUT = 5000;

/** True for the first bytes of such a connection. */
export function isGreeting(bytes: Buffer): boolean {
  return bytes.toString('latin1').startsWith(GREETING);
}

/** Answers the greeting of an application; false if it does not know the token. */
export function acceptGreeting(socket: Socket, bytes: Buffer, token: string): boolean {
  const isKnown = bytes.toString('latin1') === greeting(token);
  if (isKnown) socket.write(READY);
  else socket.destroy();
  return isKnown;
}

/** Connects to a server; undefined if it does not live, or the port is that of another program. */
export function connectControl({ port, token }: ServerAddress): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST, () => socket.write(greeting(token)));
    const fail = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.setTimeout(TIMEOUT, fail);
    socket.once('error', fail);
    socket.once('close', fail);
    socket.once('data', (bytes) => {
      if (bytes.toString('latin1') !== READY) return fail();
      socket.removeListener('close', fail).removeListener('error', fail).setTimeout(0);
      socket.on('error', () => undefined); // 'close' follows
      resolve(socket.unref());
    });
  });
}

function greeting(token: string): string {
  return `${GREETING} ${token}\n`;
}
