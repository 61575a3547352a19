// The recipe on a Restate server, a program of its npm package.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';
import { freePort, start, until } from './processes.mjs';
import { runScenario } from './scenario.mjs';

const folder = mkdtempSync(join(import.meta.dirname, '..', 'node_modules', '.restate-'));
const program = createRequire(import.meta.url).resolve(
  `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
);
const service = join(folder, 'service.mjs');

async function send(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}

async function open(server) {
  const [ingress, admin, node, port] = await Promise.all([1, 2, 3, 4].map(freePort));
  const restate = start(program, ['--base-dir', join(folder, 'data')], {
    DO_NOT_TRACK: '1',
    RESTATE_CLUSTER_NAME: 'recipes',
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
  });
  let turns;
  let isRegistered = false;
  const url = (id, handler) => `http://127.0.0.1:${ingress}/turns/${id}/${handler}`;
  return {
    async start() {
      turns = start(process.execPath, [service], { SERVER: server, PORT: String(port) });
      if (isRegistered) return;
      const uri = `http://127.0.0.1:${port}`;
      await until(() => send(`http://127.0.0.1:${admin}/deployments`, { uri }));
      isRegistered = true;
    },
    kill: () => turns.kill(),
    close: async () => void (await Promise.all([turns.kill(), restate.kill()])),
    begin: async (id, question) => void (await send(url(id, 'run/send'), question)),
    decide: async (id, name, value) => void (await send(url(id, 'decide'), { name, value })),
    result: async (id) =>
      (await fetch(`http://127.0.0.1:${ingress}/restate/workflow/turns/${id}/attach`)).json(),
  };
}

try {
  await bundle('run/restate-service.mjs', service, { platform: 'node', packages: 'external' });
  await runScenario('Restate', open);
} finally {
  rmSync(folder, { recursive: true });
}
