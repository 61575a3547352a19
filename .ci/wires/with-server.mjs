// Runs a program with the address of the server in WIRES_ADDRESS: node .ci/wires/with-server.mjs <program> [argument …]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startServer } from './start-server.mjs';

const [, , program, ...args] = process.argv;
const { address, stop } = await startServer();
const env = { ...process.env, WIRES_ADDRESS: address };
const child = spawn(program, args, { stdio: 'inherit', env });
// at the end of its time the caller ends this process alone
process.on('SIGTERM', () => child.kill());
try {
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}`);
} finally {
  stop();
}
