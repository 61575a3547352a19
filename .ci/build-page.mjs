// Builds the page of the inspector into one module of texts, src/bridges/inspector/page-files.js: the package needs no build step for it, and a
// handler serves it wherever it runs.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'src/bridges/inspector');
const target = join(folder, 'page-files.js');
const MAX_BYTES = 60 * 1_000;

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'error',
};

async function compiled(entry, options = {}) {
  const path = join(folder, 'page', entry);
  const { outputFiles } = await build({ ...OPTIONS, ...options, entryPoints: [path] });
  return outputFiles[0].text;
}

const [js, css] = await Promise.all([
  compiled('main.tsx', { format: 'esm', jsx: 'automatic', jsxImportSource: 'preact' }),
  compiled('style.css'),
]);
const html = readFileSync(join(folder, 'page/index.html'), 'utf8').replaceAll(/\n\s+/g, '\n');
const bytes = [html, js, css].reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
const code = `export const PAGE_FILES = ${JSON.stringify({ html, js, css })};\n`;
// Processes that import the file meanwhile get the one before or this one.
if (!existsSync(target) || readFileSync(target, 'utf8') !== code) {
  writeFileSync(`${target}.new`, code);
  renameSync(`${target}.new`, target);
}
const size = `${(bytes / 1_000).toFixed(1)} kB by gzip`;
if (bytes > MAX_BYTES)
  throw new Error(`the page of the inspector has ${size}, more than ${MAX_BYTES / 1_000}`);
if (!process.argv.includes('--quiet')) console.log(`page of the inspector: ${size}`);
