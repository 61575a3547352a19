import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles a worker of this folder into one file, which starts much faster, and returns its path. */
export async function bundleWorker(name: string): Promise<string> {
  // below node_modules, where Node.js finds the packages of the project
  const cache = join(root, 'node_modules/.cache/advisor-chain');
  const outfile = join(cache, `${name}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, 'test/support', `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // native code, or loads files at run time
    external: ['libsql', 'pg', 'ioredis', '@dbos-inc/dbos-sdk'],
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return outfile;
}
