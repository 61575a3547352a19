import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidArgumentError } from '../core/errors/argument-errors.js';
import { isPlainObject } from '../core/internal/options.js';
import type { ChatClient } from '../index.js';
import { loadProblem } from './load-problem.js';
import type { Terminal } from './terminal.js';
import { importTypeScript, isTypeScript } from './typescript.js';

/** Exports of a module, by name. */
export type Exports = Readonly<Record<string, unknown>>;

/**
 * Loads the module of a path, relative to the folder of the terminal.
 * @throws {@link InvalidArgumentError} if there is no such file, or it cannot be loaded
 */
export async function loadModule(path: string, terminal: Terminal): Promise<Exports> {
  const file = resolve(terminal.cwd, path);
  if (!existsSync(file)) throw new InvalidArgumentError(`there is no file ${path}`);
  if (statSync(file).isDirectory())
    throw new InvalidArgumentError(`${path} is a folder; give the file that exports the client`);
  terminal.progress(`loading ${path}`);
  const url = pathToFileURL(file).href;
  try {
    const loaded: unknown = isTypeScript(file) ? await importTypeScript(file) : await import(url);
    return exportsOf(loaded as Exports);
  } catch (error) {
    const problem = loadProblem(error, path, terminal.cwd);
    throw new InvalidArgumentError(`${path} cannot be loaded: ${problem}`, { cause: error });
  } finally {
    terminal.clearProgress();
  }
}

/** With the members of a default export that is a plain object: the exports of a CommonJS module. */
function exportsOf(exports: Exports): Exports {
  const { 'module.exports': _whole, ...loaded } = exports;
  return isPlainObject(loaded['default']) ? { ...loaded['default'], ...loaded } : loaded;
}

/** Names that are looked at first. */
const NAMES = ['default', 'client', 'chat'];

/**
 * Finds the client among exports: the default export, `client`, `chat`, or the only client. Clients of another copy
 * of this package have the same methods, and are accepted.
 * @throws {@link InvalidArgumentError} with the names of the exports
 */
export function findClient(exports: Exports, path: string): ChatClient {
  const name = NAMES.find((each) => isClient(exports[each]));
  if (name !== undefined) return exports[name] as ChatClient;
  const clients = Object.entries(exports).filter(([, value]) => isClient(value));
  if (clients.length === 1) return clients[0]?.[1] as ChatClient;
  if (clients.length > 1)
    throw new InvalidArgumentError(
      `${path} exports several clients: ${clients.map(([each]) => each).join(', ')}; export one as default`,
    );
  const builder = Object.entries(exports).find(([, value]) => isBuilder(value));
  if (builder)
    throw new InvalidArgumentError(
      `${path} exports ${builder[0]}, a builder: export what its build() returns`,
    );
  const names = Object.keys(exports);
  const found = names.length === 0 ? 'nothing' : `only ${names.map(nameOf(exports)).join(', ')}`;
  throw new InvalidArgumentError(
    `${path} exports no ChatClient, but ${found}; add "export default client"`,
  );
}

const nameOf =
  (exports: Exports) =>
  (name: string): string =>
    `${name} (${kindOf(exports[name])})`;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  const { name } = (value.constructor as { readonly name?: string } | undefined) ?? {};
  return name === undefined || name === 'Object' ? 'an object' : name;
}

/** Structural: a client of another copy of this package is one, too. */
export function isClient(value: unknown): value is ChatClient {
  return hasAll(value, ['prompt', 'mutate', 'explain', 'resume']);
}

const isBuilder = (value: unknown): boolean => hasAll(value, ['build', 'defaultAdvisors']);

function hasAll(value: unknown, methods: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return methods.every(
    (name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function',
  );
}

/** Loads a module and finds its client. */
export async function loadClient(path: string, terminal: Terminal): Promise<ChatClient> {
  return findClient(await loadModule(path, terminal), path);
}
