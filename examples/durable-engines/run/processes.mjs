// Processes of engines on free ports of the loopback.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A process whose output is shown if `SHOW` is set. */
export function start(command, args, env, cwd) {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    cwd,
    stdio: process.env.SHOW ? 'inherit' : 'ignore',
  });
  return {
    async kill() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** Repeats a request until it succeeds, for up to a minute. */
export async function until(request) {
  for (let attempt = 0; attempt < 600; attempt++) {
    const value = await request().catch(() => undefined);
    if (value !== undefined) return value;
    await setTimeout(100);
  }
  throw new Error(`no success in a minute: ${request}`);
}
