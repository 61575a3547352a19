// Sources of a checkout as JavaScript, file by file, in a temporary folder.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { transformSync } from 'esbuild';

const OPTIONS = {
  loader: 'ts',
  format: 'esm',
  target: 'es2022',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
};

/** The TypeScript files of `src` and `advisors`. */
export function sourcesOf(root) {
  return ['src', 'advisors'].flatMap((folder) => filesIn(join(root, folder)));
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

/** Calls `use` with the folder of the transpiled sources, and removes it. */
export async function withTranspiled(root, use) {
  const folder = mkdtempSync(join(tmpdir(), 'house-'));
  try {
    transpile(root, folder);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function transpile(root, folder) {
  for (const source of sourcesOf(root)) {
    const target = join(folder, relative(root, source).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, transformSync(readFileSync(source, 'utf8'), OPTIONS).code);
  }
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}
