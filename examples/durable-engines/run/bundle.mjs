// Bundles of the recipes.
import { build } from 'esbuild';

export const bundle = (entry, outfile, options) =>
  build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    logLevel: 'error',
    ...options,
  });
