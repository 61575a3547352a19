import { basename, extname, isAbsolute, relative } from 'node:path';
import { reasonOf } from '../core/errors/describe.js';

/** Messages of Node.js and tsx for the syntax of ES modules in a CommonJS module. */
const OF_KIND =
  /outside a module|Unexpected token 'export'|top level bodies of modules|"cjs" output format/;

/** True for the error of ES module syntax in a CommonJS module, as its package.json or its name makes it. */
export function isEsModuleSyntax(error: unknown): boolean {
  return OF_KIND.test(reasonOf(error));
}

/** Why a module cannot be loaded, with its line or what to do. */
export function loadProblem(error: unknown, path: string, cwd: string): string {
  const reason = reasonOf(error);
  if (isEsModuleSyntax(error)) return `${reason}; it is a CommonJS module: ${asModule(path)}`;
  const place = placeOf(error, cwd);
  if (place !== undefined) return `${reason} (${place})`;
  // Node.js has the line of such an error only for its own output
  return error instanceof SyntaxError ? `${reason}; "node ${path}" prints the line` : reason;
}

function asModule(path: string): string {
  const extension = extname(path);
  const stem = basename(path, extension);
  const rename = `name it ${stem}${extension.includes('t') ? '.mts' : '.mjs'}`;
  const isFixed = extension.startsWith('.c');
  return isFixed ? rename : `set "type": "module" in package.json, or ${rename}`;
}

/** File and line of an error, if the file is in the folder of the user. */
function placeOf(error: unknown, cwd: string): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const lines = stack.split('\n').filter((line) => /^\s+at /.test(line));
  const own = lines.find((line) => !/node_modules|node:|\/dist\/cli/.test(line));
  const [, url, line] =
    /((?:file:\/\/)?\/[^\s()?]+)(?:\?[^\s():]*)?:(\d+):\d+\)?$/.exec(own ?? '') ?? [];
  if (url === undefined) return undefined;
  const file = decodeURIComponent(url.replace(/^file:\/\//, ''));
  const short = relative(cwd, file);
  return short.startsWith('..') || isAbsolute(short) ? undefined : `${short}:${line}`;
}
