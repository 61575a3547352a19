// The server of `server.mjs` for a program: started, stopped.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('server.mjs', import.meta.url));

/** Starts the server in a process of its own; resolves to its address and a function that ends it. */
export async function startServer() {
  const server = fork(file, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [address] = await once(server, 'message');
  return { address, stop: () => server.disconnect() };
}
