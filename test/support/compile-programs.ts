import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The compiler. */
export const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

/** The entries of the package, with the paths of their sources. */
export function entryPaths(): Readonly<Record<string, readonly string[]>> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const entries = Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === 'string') return [];
    const source = target.types.replace('./dist/types/', '').replace(/\.d\.ts$/, '.ts');
    return [[`advisor-chain${entry.slice(1)}`, [join(root, source)]] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * Compiles programs together, with the options of this repository, as applications of the package.
 * @param modules further modules that they import: the paths of their sources, by name
 * @returns what the compiler reports about each program, by its name
 */
export function compilePrograms(
  programs: ReadonlyMap<string, string>,
  modules: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-programs-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: object;
    };
    const own = Object.entries(modules).map(([name, path]) => [name, [join(root, path)]] as const);
    const options = {
      ...compilerOptions,
      noUnusedLocals: false,
      noUnusedParameters: false,
      declaration: false,
      declarationMap: false,
      paths: { ...entryPaths(), ...Object.fromEntries(own) },
    };
    const config = { compilerOptions: options, include: ['programs'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    mkdirSync(join(folder, 'programs'));
    const titles = [...programs.keys()];
    for (const [at, code] of [...programs.values()].entries())
      writeFileSync(join(folder, 'programs', `${at}.ts`), code);
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return byProgram(stdout, titles);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Splits a report by the programs, whose numbers begin its lines; the rest is about other files. */
function byProgram(report: string, titles: readonly string[]): ReadonlyMap<string, string> {
  const reports = new Map<string, string>();
  let title = '';
  for (const line of report.split('\n')) {
    const [, number, problem = line] = /^programs\/(\d+)\.ts\(\d+,\d+\): (.*)$/.exec(line) ?? [];
    if (number !== undefined) title = titles[Number(number)] ?? '';
    else if (!line.startsWith(' ')) title = '';
    if (line !== '') reports.set(title, `${reports.get(title) ?? ''}${problem}\n`);
  }
  return reports;
}
