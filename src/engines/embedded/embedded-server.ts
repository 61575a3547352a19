// Supervisor of an embedded database, which starts it and ends it when it is idle:
// node embedded-server.js <directory> <idle timeout in ms>
import type { Client } from 'pg';
import { createCluster, startCluster, stopStarted } from './cluster.js';
import { linkLibraries } from './postgres-programs.js';
import { connectServer, countClients, HELD, SUPERVISOR } from './server-process.js';

/** Milliseconds between two looks for clients. */
const INTERVAL = 500;

const [directory = '', idleTimeout = ''] = process.argv.slice(2);

/** Resolves when no client was connected for the idle timeout. */
async function becomeIdle(control: Client): Promise<void> {
  let end = Date.now() + Number(idleTimeout);
  while (Date.now() < end) {
    if ((await countClients(control)) > 0) end = Date.now() + Number(idleTimeout);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

await linkLibraries();
await createCluster(directory);
const lock = await startCluster(directory);
if (lock === undefined) process.exit(HELD);
const stop = (): Promise<void> => stopStarted(directory, lock);
const server = await connectServer(directory, SUPERVISOR);
server?.control.once('end', () => process.exit(0));
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop());
// a failed question about its clients: the server has ended
if (server) await becomeIdle(server.control).catch(() => undefined);
await stop();
