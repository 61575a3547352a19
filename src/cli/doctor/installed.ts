import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of a `package.json` that is read. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly engines?: { readonly node?: string };
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A folder and those above it. */
function* foldersFrom(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (dirname(at) === at) return;
  }
}

/** The manifest of this package. */
export function ownManifest(): Manifest {
  for (const folder of foldersFrom(dirname(fileURLToPath(import.meta.url)))) {
    const manifest = read(join(folder, 'package.json'));
    if (manifest?.name === 'advisor-chain') return manifest;
  }
  return {};
}

/** The version of a package that a file in this folder would import; undefined if there is none. */
export function versionIn(folder: string, name: string): string | undefined {
  for (const at of foldersFrom(folder)) {
    const manifest = read(join(at, 'node_modules', name, 'package.json'));
    if (manifest) return manifest.version;
  }
  return undefined;
}

/** Names of the packages of a scope, such as `@ai-sdk`. */
export function packagesOf(folder: string, scope: string): readonly string[] {
  const found = [...foldersFrom(folder)].flatMap((at) => {
    const path = join(at, 'node_modules', scope);
    return existsSync(path) ? readdirSync(path).map((name) => `${scope}/${name}`) : [];
  });
  return [...new Set(found)].sort();
}

function read(path: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** True if a version is in a range of `^`, `>=`, `*` and `||`, the notation of this package; unknown notations count. */
export function isInRange(version: string, range: string): boolean {
  return range.split('||').some((each) => isInPart(numbersOf(version), each.trim()));
}

function isInPart(version: Numbers, range: string): boolean {
  if (range.startsWith('>=')) return compare(version, numbersOf(range)) >= 0;
  if (!range.startsWith('^')) return true;
  const least = numbersOf(range);
  // of 0.x.y each x may break what worked
  const fixed = least[0] > 0 ? 1 : 2;
  const isSame = version.slice(0, fixed).join('.') === least.slice(0, fixed).join('.');
  return isSame && compare(version, least) >= 0;
}

type Numbers = readonly [number, number, number];

function numbersOf(text: string): Numbers {
  const [, major = 0, minor = 0, patch = 0] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? [];
  return [Number(major), Number(minor), Number(patch)];
}

function compare(a: Numbers, b: Numbers): number {
  const at = a.findIndex((each, index) => each !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
