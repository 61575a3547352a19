// Checks of the programs that stand beside programs on other libraries, whose packages only they need.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, root, run, tool } from './commands.mjs';

const folder = join(root, 'examples', 'ports');
const MAX_MILLISECONDS = 120_000;

/** Pairs of programs, one on another library and one on this, that must do the same. */
const PAIRS = ['ai-sdk', 'langchain'];

/** Installs what the lock file names, also where NODE_ENV is production; install scripts do not run. The built package is found by its name. */
function installLibraries() {
  const options = ['--include=dev', '--no-audit', '--no-fund', '--prefer-offline'];
  run('npm', ['ci', ...options], { cwd: folder });
  symlinkSync(root, join(folder, 'node_modules', manifest.name), 'junction');
}

function runProgram(file, ...args) {
  const options = { cwd: folder, timeout: MAX_MILLISECONDS };
  return run(process.execPath, [join('run', file), ...args], options).trim();
}

/** Steps for the built package. */
export const portSteps = [
  { name: 'packages of other libraries', run: installLibraries },
  { name: 'ports compile', run: () => tool('tsc', '-p', folder) },
  ...PAIRS.map((pair) => ({
    name: `port from ${pair}`,
    run: () => runProgram('compare.mjs', pair),
  })),
  { name: 'behaviour of other libraries', run: () => runProgram('behaviour.mjs') },
];
