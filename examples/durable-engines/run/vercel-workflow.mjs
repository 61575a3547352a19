// The recipe in the local world of the Workflow SDK: its queue and its event log, in files.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StandaloneBuilder } from '@workflow/builders';
import { freePort, start, until } from './processes.mjs';
import { runScenario } from './scenario.mjs';

const recipes = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(recipes, '.vercel-'));

/** Builds the workflow and its step, and returns the name of the workflow. */
async function buildWorkflow() {
  for (const file of ['vercel-workflow.ts', 'journal.ts', 'client.ts'])
    copyFileSync(join(recipes, file), join(folder, file));
  await new StandaloneBuilder({
    buildTarget: 'standalone',
    workingDir: folder,
    dirs: ['.'],
    stepsBundlePath: 'steps.cjs',
    workflowsBundlePath: 'flow.cjs',
    webhookBundlePath: 'webhook.cjs',
  }).build();
  const manifest = readFileSync(join(folder, '.well-known/workflow/v1/manifest.json'), 'utf8');
  const [{ turn }] = Object.values(JSON.parse(manifest).workflows).filter((each) => each.turn);
  return turn.workflowId;
}

async function open(server) {
  const WORKFLOW = await buildWorkflow();
  const port = await freePort();
  let service;
  let runId;
  const send = async (name, body) => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${port}/${name}`, init);
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    return response.json();
  };
  return {
    async start() {
      service = start(process.execPath, [join(import.meta.dirname, 'vercel-service.mjs')], {
        SERVER: server,
        FOLDER: folder,
        WORKFLOW,
        PORT: String(port),
        WORKFLOW_LOCAL_DATA_DIR: join(folder, 'data'),
        WORKFLOW_LOCAL_BASE_URL: `http://127.0.0.1:${port}`,
        WORKFLOW_TARGET_WORLD: 'local',
      });
    },
    kill: () => service.kill(),
    close: () => service.kill(),
    begin: async (id, question) => ({ runId } = await until(() => send('begin', { id, question }))),
    decide: (id, name, value) => until(() => send('decide', { id, name, value })),
    result: async () => (await until(() => send('result', { runId }))).value,
  };
}

try {
  await runScenario('Vercel Workflow', open);
} finally {
  rmSync(folder, { recursive: true });
}
