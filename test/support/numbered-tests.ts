import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** Text of a file of the folder of tests. */
export function readTest(file: string): string {
  return readFileSync(folder + file, 'utf8');
}

/** The text of a documentation page. */
export function readPage(file: string): string {
  return readFileSync(`${folder}../docs/${file}`, 'utf8');
}

/** The files of tests and suites for each number with this letter, as their titles name it: `[F44]`. */
export function filesByNumber(letter: 'D' | 'F'): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(\.test(-types)?|^support\/.+)\.ts$/.test(file))
    .toSorted();
  const byNumber = new Map<string, string[]>();
  for (const file of files) {
    const numbers = readTest(file).match(new RegExp(`(?<=\\[)${letter}\\d+(?=\\])`, 'g')) ?? [];
    for (const each of new Set(numbers)) byNumber.set(each, [...(byNumber.get(each) ?? []), file]);
  }
  return byNumber;
}
