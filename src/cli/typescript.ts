import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidArgumentError } from '../core/errors/argument-errors.js';
import { isEsModuleSyntax } from './load-problem.js';

/** True for the files of TypeScript. */
export function isTypeScript(file: string): boolean {
  return ['.ts', '.mts', '.cts', '.tsx'].includes(extname(file));
}

/** Versions of Node.js that strip types report how. */
export const canStrip = (): boolean =>
  Boolean((process.features as { readonly typescript?: unknown }).typescript);

/**
 * Imports a file of TypeScript: by Node.js if it strips types, else by `tsx` of the user's project. Decorators, enums
 * and imports of `./x.js` for `x.ts` need `tsx`, too.
 * @throws {@link InvalidArgumentError} if neither can
 */
export async function importTypeScript(file: string): Promise<unknown> {
  const url = pathToFileURL(file).href;
  if (isLoadedByTsx()) return await import(url);
  if (!canStrip()) {
    if (await useTsx(file)) return await import(url);
    throw new InvalidArgumentError(
      `Node.js ${process.versions.node} runs no TypeScript: npm install -D tsx, or use Node.js 22.18 or newer`,
    );
  }
  try {
    return await import(url);
  } catch (error) {
    if (!isOfTypes(error)) throw error;
    // another address: Node.js keeps the failure of the first
    if (await useTsx(file)) return await import(`${url}?by=tsx`);
    if (isEsModuleSyntax(error)) throw error;
    throw new InvalidArgumentError(`${(error as Error).message}; npm install -D tsx may help`, {
      cause: error,
    });
  }
}

/** Failures of type stripping; they occur before any code of the module runs. */
function isOfTypes(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  if (error instanceof SyntaxError) return true;
  return (
    typeof code === 'string' &&
    /TYPESCRIPT|TYPE_STRIPPING|UNKNOWN_FILE_EXTENSION|MODULE_NOT_FOUND/.test(code)
  );
}

/** True if this process has been started with tsx, as in the repository. */
const isLoadedByTsx = (): boolean => import.meta.url.endsWith('.ts') && !canStrip();

/** Registers tsx of the user's project, for modules of both kinds; false if it is not installed. */
async function useTsx(file: string): Promise<boolean> {
  for (const from of [file, join(process.cwd(), 'package.json')]) {
    const require = createRequire(from);
    let paths: readonly string[];
    try {
      paths = ['tsx/cjs/api', 'tsx/esm/api'].map((name) => require.resolve(name));
    } catch {
      continue;
    }
    for (const path of paths) {
      // its build for `require` looks for the hooks of ES modules where they are not
      const url = pathToFileURL(path.replace(/\.cjs$/, '.mjs')).href;
      ((await import(url)) as { readonly register: () => unknown }).register();
    }
    return true;
  }
  return false;
}
