// Names that the main entry exports: values by loading it, types by following the exports of the sources.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const FROM = /^export\s+(?:type\s+)?\{([^}]*)\}/gm;
const STAR = /^export\s+(?:type\s+)?\*\s+from\s+'(\.[^']+)\.js'/gm;
const DECLARED = /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:class|interface|type|enum)\s+(\w+)/gm;

/** The names in the braces of an export, as others import them. */
const namesOf = (list) =>
  list
    .replaceAll(/\/\/.*$|\/\*[^]*?\*\//gm, '')
    .split(',')
    .map((name) => name.trim().replace(/^type\s+/, ''))
    .map((name) => name.split(/\s+as\s+/).at(-1))
    .filter(Boolean);

function exportsOf(file, names = new Set()) {
  const source = readFileSync(file, 'utf8');
  for (const [, list] of source.matchAll(FROM)) namesOf(list).forEach((name) => names.add(name));
  for (const [, name] of source.matchAll(DECLARED)) names.add(name);
  for (const [, path] of source.matchAll(STAR))
    exportsOf(resolve(dirname(file), `${path}.ts`), names);
  return names;
}

/** A name that is both, such as a class, counts as a value. */
export function countExports(root, values) {
  const all = exportsOf(join(root, 'src/index.ts'));
  const advisors = exportsOf(join(root, 'advisors/index.ts'));
  const types = [...all].filter((name) => !values.includes(name));
  return {
    values: values.length,
    types: types.length,
    ownValues: values.filter((name) => !advisors.has(name)).length,
    ownTypes: types.filter((name) => !advisors.has(name)).length,
  };
}
