// The recipe in workerd, by miniflare.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Miniflare } from 'miniflare';
import { bundle } from './bundle.mjs';
import { runScenario } from './scenario.mjs';

const { peerDependencies } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8'),
);
const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-cloudflare-'));
const worker = join(folder, 'worker.js');
await bundle('cloudflare.ts', worker, {
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:workers', 'node:*', ...Object.keys(peerDependencies)],
  footer: { js: 'export default { fetch: () => new Response() };' },
});

function open(server) {
  let miniflare;
  let begun;
  const instance = async (id) => (await miniflare.getBindings()).TURNS.get(id);
  return {
    async start() {
      miniflare = new Miniflare({
        modules: true,
        script: readFileSync(worker, 'utf8'),
        compatibilityDate: '2026-04-01',
        cf: false,
        bindings: { SERVER: server },
        workflows: { TURNS: { name: 'turns', className: 'Turn' } },
        workflowsPersist: join(folder, 'state'),
      });
      // unlike the platform, miniflare continues an instance only when it is sent something
      if (begun) await (await instance(begun)).sendEvent({ type: 'wake' });
    },
    kill: () => miniflare.dispose(), // by SIGKILL
    close: () => miniflare.dispose(),
    async begin(id, question) {
      await (await miniflare.getBindings()).TURNS.create({ id, params: { question } });
      begun = id;
    },
    decide: async (id, name, payload) =>
      (await instance(id)).sendEvent({ type: name.replaceAll(/[^\w-]/g, '_'), payload }),
    async result(id) {
      for (;;) {
        const { status, output, error } = await (await instance(id)).status();
        if (status === 'complete') return output;
        if (status === 'errored') throw new Error(error.message);
        await setTimeout(50);
      }
    },
  };
}

try {
  await runScenario('Cloudflare Workflows', open);
} finally {
  rmSync(folder, { recursive: true });
}
