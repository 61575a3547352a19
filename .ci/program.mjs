// The build of the command line: one file, which imports the built entries.
import { writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'rolldown';
import { COPIED_BY_CLI } from './house.mjs';

/**
 * Builds `dist/cli.js`. A module of the user and the program share the classes of the entries, and the chunks of the entries
 * stay as they would be without the program.
 * @param entries sources by name of the entry
 * @param isExternal whether a package is not bundled
 */
export async function buildProgram(root, entries, isExternal) {
  const names = new Map(
    Object.entries(entries).map(([name, source]) => [join(root, source), name]),
  );
  const file = join(root, 'dist/cli.js');
  const { output } = await build({
    cwd: root,
    input: { cli: 'src/cli/main.ts' },
    platform: 'node',
    external: isExternal,
    plugins: [
      {
        name: 'built entries',
        resolveId(id, importer) {
          if (importer === undefined || !id.startsWith('.')) return undefined;
          const name = names.get(resolve(importer, '..', id).replace(/\.js$/, '.ts'));
          return name === undefined ? undefined : { id: `./${name}.js`, external: true };
        },
      },
    ],
    experimental: { attachDebugInfo: 'none' },
    output: {
      file,
      format: 'esm',
      codeSplitting: false,
      comments: { jsdoc: false, legal: true, annotation: true },
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
    },
    write: false,
  });
  const [chunk] = output;
  const others = Object.keys(chunk.modules)
    .map((id) => relative(root, id.replace(/^\0/, '')))
    .filter((id) => id.startsWith('src/') || id.startsWith('advisors/'))
    .filter((id) => !id.startsWith('src/cli/') && !COPIED_BY_CLI.test(id));
  if (others.length > 0) throw new Error(`dist/cli.js would have a copy of ${others.join(', ')}`);
  writeFileSync(file, chunk.code, { mode: 0o755 });
}
