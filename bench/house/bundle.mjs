// Size of `import { ChatClient } from 'advisor-chain'` in an application, by two bundlers. Vite 8 bundles by rolldown.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';

const application = (entry) =>
  `import { ChatClient } from ${JSON.stringify(entry)};\nglobalThis.client = ChatClient.create(globalThis.model);\n`;

function optionalPackages(root) {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys(peerDependencies);
}

async function byEsbuild(root, entry) {
  const { outputFiles } = await build({
    stdin: { contents: application(entry), resolveDir: root },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    external: optionalPackages(root),
    write: false,
    logLevel: 'error',
  });
  return { start: outputFiles[0].contents, later: [] };
}

async function byRolldown(root, entry) {
  const virtual = {
    name: 'application',
    resolveId: (id) => (id === 'application' ? id : null),
    load: (id) => (id === 'application' ? application(entry) : null),
  };
  const bundle = await rolldown({
    input: 'application',
    cwd: root,
    platform: 'browser',
    external: optionalPackages(root),
    plugins: [virtual],
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const [{ imports }] = output;
  const codeOf = (chunks) => chunks.map(({ code }) => code);
  const isStart = ({ fileName }, at) => at === 0 || imports.includes(fileName);
  return {
    start: codeOf(output.filter(isStart)).join('\n'),
    later: codeOf(output.filter((chunk, at) => !isStart(chunk, at))),
  };
}

const gzipBytes = (code) => gzipSync(code).length;

/**
 * Bytes from the built package, if there is one, and from the sources: of what is loaded at the start, and of what a dynamic
 * import loads later. Esbuild has all in one file.
 */
export async function measureBundles(root) {
  const sizes = [];
  for (const entry of ['dist/index.js', 'src/index.ts'].filter((each) =>
    existsSync(join(root, each)),
  ))
    for (const [bundler, bundle] of Object.entries({ rolldown: byRolldown, esbuild: byEsbuild })) {
      const { start, later } = await bundle(root, join(root, entry));
      const minified = Buffer.byteLength(start);
      const laterBytes = later.reduce((sum, code) => sum + gzipBytes(code), 0);
      sizes.push({ entry, bundler, minified, gzip: gzipBytes(start), later: laterBytes });
    }
  return sizes;
}
