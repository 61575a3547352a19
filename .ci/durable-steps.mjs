// Checks of the recipes for durable engines: their packages, which only they need, are installed beside them.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, root, run, tool } from './commands.mjs';

const folder = join(root, 'examples', 'durable-engines');
const MAX_MILLISECONDS = 180_000;

/** Engines whose turns are killed and resumed, without a network. */
const ENGINES = ['cloudflare', 'restate', 'inngest', 'vercel-workflow', 'temporal'];

/** Installs what the lock file names, also where NODE_ENV is production; install scripts do not run. The built package is found by its name. */
function installEngines() {
  const options = ['--include=dev', '--no-audit', '--no-fund', '--prefer-offline'];
  run('npm', ['ci', ...options], { cwd: folder });
  symlinkSync(root, join(folder, 'node_modules', manifest.name), 'junction');
}

/** Steps for the built package. */
export const durableSteps = [
  { name: 'packages of durable engines', run: installEngines },
  { name: 'durable recipes compile', run: () => tool('tsc', '-p', folder) },
  ...ENGINES.map((engine) => ({
    name: `durable turn on ${engine}`,
    run: () => {
      const printed = run(process.execPath, [join('run', `${engine}.mjs`)], {
        cwd: folder,
        timeout: MAX_MILLISECONDS,
      });
      return printed.trim().split('\n').at(-1);
    },
  })),
];
