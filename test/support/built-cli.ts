import { build } from 'esbuild';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The command line and modules of users, built: from its sources each start would take seconds. */
export interface BuiltCli {
  /** The program and its first argument. */
  readonly command: readonly string[];
  /** An empty folder, in which packages are found. */
  readonly folder: string;
  /** Path of a module of `test/fixtures/cli`. */
  readonly fixture: (name: string) => string;
  readonly remove: () => void;
}

/** Builds the command line with modules of `test/fixtures/cli`, which share its classes. */
export async function buildCli(fixtures: readonly string[]): Promise<BuiltCli> {
  const place = mkdtempSync(join(tmpdir(), 'built-cli-'));
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'), 'junction');
  symlinkSync(join(root, 'package.json'), join(place, 'package.json'));
  const modules = fixtures.map((name) => [name, join(root, `test/fixtures/cli/${name}.ts`)]);
  await build({
    entryPoints: { cli: join(root, 'src/cli/main.ts'), ...Object.fromEntries(modules) },
    outdir: join(place, 'program'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
  });
  const folder = join(place, 'folder');
  mkdirSync(folder);
  return {
    command: [process.execPath, join(place, 'program/cli.mjs')],
    folder,
    fixture: (name) => join(place, `program/${name}.mjs`),
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}
