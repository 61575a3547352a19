const STRANGE: readonly unknown[] = [null, 0, '', 'x', true, [], {}, [null], { a: [] }];

/** The text of a JSON document with each of its values replaced by each of the strange ones, or left out. */
export function strangeVersions(text: string): readonly string[] {
  const versions: string[] = [];
  const paths = pathsOf(JSON.parse(text) as unknown);
  for (const path of paths) {
    for (const strange of STRANGE) versions.push(replaced(text, path, () => strange));
    versions.push(replaced(text, path, () => undefined));
  }
  return versions;
}

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [...path, key],
    ...pathsOf(inner, [...path, key]),
  ]);
}

function replaced(text: string, path: Path, by: () => unknown): string {
  const root = JSON.parse(text) as Record<string, unknown>;
  let holder = root;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  holder[String(path.at(-1))] = by();
  return JSON.stringify(root);
}
