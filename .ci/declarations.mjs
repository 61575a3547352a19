// Removes from the declarations what no entry leads to, statement by statement: it describes internals.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { parseSync } from 'rolldown/utils';
import { lineMap } from './line-map.mjs';

/**
 * Prunes the declaration files of a folder, in place; returns the number of files that are left.
 * @param entries paths of the files whose exports are public
 * @param optional names of packages that an application may not have: their types are then `any`
 */
export function pruneDeclarations(folder, entries, optional) {
  const declarations = new Declarations();
  for (const entry of entries) declarations.keepExports(entry);
  const files = readdirSync(folder, { recursive: true })
    .map((path) => join(folder, path))
    .filter((path) => path.endsWith('.d.ts'));
  const isKept = (file) => declarations.statements(file).some((statement) => statement.isKept);
  const kept = files.filter(isKept);
  for (const file of kept) writeKept(file, declarations.statements(file), optional);
  for (const file of files.filter((each) => !kept.includes(each)))
    for (const path of [file, `${file}.map`]) rmSync(path);
  return kept.length;
}

class Declarations {
  files = new Map();

  statements(file) {
    if (!this.files.has(file)) this.files.set(file, existsSync(file) ? statementsOf(file) : []);
    return this.files.get(file);
  }

  keepExports(file) {
    for (const statement of this.statements(file)) {
      const { node, specifiers, used, target } = statement;
      if (!node.type.startsWith('Export')) continue;
      this.keep(statement);
      if (node.type === 'ExportAllDeclaration') this.keepExports(target);
      for (const specifier of specifiers) {
        used.add(specifier);
        this.keepName(target ?? file, specifier.local.name);
      }
    }
  }

  /** Keeps what declares, imports or exports a name in a file, if anything does. */
  keepName(file, name) {
    for (const statement of this.statements(file)) {
      const { node, names, specifiers, used, target } = statement;
      if (names.includes(name)) this.keep(statement);
      if (node.type === 'ExportAllDeclaration' && target) this.keepName(target, name);
      const specifier = specifiers.find((each) => (each.exported ?? each.local).name === name);
      if (!specifier || used.has(specifier)) continue;
      used.add(specifier);
      this.keep(statement);
      const { imported, local } = specifier;
      // a package has no target
      if (target || !node.source) this.keepName(target ?? file, (imported ?? local).name);
    }
  }

  /** Keeps a statement with all that its code names: more than needed, since a property is a name too. */
  keep(statement) {
    const { file, node, code, specifiers } = statement;
    if (statement.isKept) return;
    statement.isKept = true;
    // nothing names an augmentation of another module
    for (const each of this.statements(file))
      if (each.node.type === 'TSModuleDeclaration') this.keep(each);
    if (node.type === 'ExportAllDeclaration' || specifiers.length > 0) return;
    for (const [, path, name] of code.matchAll(/import\("(\.[^"]+)\.js"\)\.(\w+)/g))
      this.keepName(resolve(dirname(file), `${path}.d.ts`), name);
    for (const [name] of code.matchAll(/[\w$]+/g)) this.keepName(file, name);
  }
}

/** The statements of a file; the lines of each begin with the comments before it. */
function statementsOf(file) {
  const text = readFileSync(file, 'utf8');
  let nextLine = 0;
  return parseSync(file, text).program.body.map((node) => {
    const { specifiers = [], source } = node;
    const { id, declarations } = node.declaration ?? node;
    const firstLine = nextLine;
    nextLine = text.slice(0, node.end).split('\n').length;
    return {
      file,
      node,
      code: text.slice(node.start, node.end).replaceAll(/\/\*.*?\*\//gs, ''),
      names: declarations?.map((each) => each.id.name) ?? (id ? [id.name] : []),
      /** File that it imports or exports from. */
      target: source?.value.startsWith('.')
        ? resolve(dirname(file), source.value.replace(/\.js$/, '.d.ts'))
        : undefined,
      specifiers,
      /** The specifiers that are kept. */
      used: new Set(),
      isKept: false,
      lines: [firstLine, nextLine],
    };
  });
}

/** Writes what is kept, with tabs as in the JavaScript; editors jump from lines of code only. */
function writeKept(file, statements, optional) {
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  const mappings = decode(map.mappings);
  const kept = statements
    .filter(({ isKept }) => isKept)
    .flatMap(({ node, specifiers, used, lines: [first, end] }) => {
      const ownLines =
        used.size < specifiers.length
          ? [[withSpecifiers(text, node, used), mappings[end - 1] ?? []]]
          : lines.slice(first, end).map((line, at) => [line, mappings[first + at] ?? []]);
      // the compiler prints an import on one line
      return isOptional(node, optional) ? [['// @ts-ignore', []], ...ownLines] : ownLines;
    });
  const written = kept.map(([line]) =>
    line.replace(/^(?: {4})+/, ({ length }) => '\t'.repeat(length / 4)),
  );
  if (!written.some((line) => /^(?:ex|im)port /.test(line))) written.push('export {};');
  writeFileSync(file, [...written, lines.at(-1)].join('\n'));
  map.mappings = encode(kept.map(([line, mapping]) => (/^\s*\/?\*/.test(line) ? [] : mapping)));
  writeFileSync(`${file}.map`, lineMap(map));
}

/** True for an import of a package that may not be installed: an error in a library cannot be ignored otherwise. */
function isOptional({ source }, optional) {
  return optional.some((name) => source?.value === name || source?.value.startsWith(`${name}/`));
}

function withSpecifiers(text, { start, end, specifiers }, used) {
  const names = specifiers
    .filter((each) => used.has(each))
    .map((each) => text.slice(each.start, each.end));
  return (
    text.slice(start, specifiers[0].start) +
    names.join(', ') +
    text.slice(specifiers.at(-1).end, end)
  );
}
