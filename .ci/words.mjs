// Words check: one plain vocabulary in code, tests and docs.
// Usage: node .ci/words.mjs [paths, default: the repository]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Words that have a better one in the field; matched as whole words, also as parts of camelCase names. */
const WORDS = {
  'said|say|says|saying': 'content, text, or a verb for what happens ("the option sets ...")',
  'tell|tells|told|telling': 'notify, emit, report, send',
  'hear|hears|heard|unheard|hearer': 'receive, listen, accept',
  surroundings: 'context',
  'who|whom|whoever|nobody|somebody|anybody|someone|anyone':
    'name the caller, the component or "none"',
  anew: 'again',
  late: 'overdue, lazily, after ..., timed out',
  'mend|mends|mended|mending|mender': 'normalize, repair, fix',
  'misfit|voice|speech|patience|patiently': 'see the glossary in CONTRIBUTING.md',
};
const PHRASES = {
  'by half': 'atomically',
  'as it is(?! (?:defined|documented))|as they are': 'unchanged',
  '(?:hand|hands|handed|handing) on': 'pass, forward, flush',
  'a whole number(?: of)?|an integer of \\d+|a positive integer': 'an integer >= N',
  'non-blank text|non-empty text|a text without': 'a non-blank string',
};
const COMMENT_START =
  /^\s*(?:\/\*\*|\/\/|\*(?= [A-Z]))\s*(What|Whether|Who|How|Where|Something|Whatever)\b/;

/** Lines of data: the stop words of the keyword index. */
const DATA = { 'src/tool-indexes/keyword/terms.ts': /^  [a-z ]+(`.*)?$/ };

const CHECKED = ['src', 'advisors', 'test', 'docs', 'examples', 'bench', '.ci', '*.md', '*.json'];
const SKIPPED = /^(\.ci\/words\.mjs|package-lock\.json|test\/ci\/words\.slow\.test\.ts|LICENSE)$/;

const words = new RegExp(`\\b(?:${Object.keys(WORDS).join('|')})\\b`, 'gi');
const phrases = new RegExp(`\\b(?:${Object.keys(PHRASES).join('|')})\\b`, 'gi');

function betterWord(table, found) {
  const pattern = Object.keys(table).find((each) => new RegExp(`^(?:${each})$`, 'i').test(found));
  return table[pattern];
}

function problemsOf(line) {
  const split = line.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ');
  const start = COMMENT_START.exec(line)?.[1];
  return [
    ...[...split.matchAll(words)].map(([found]) => [found, betterWord(WORDS, found)]),
    ...[...line.matchAll(phrases)].map(([found]) => [found, betterWord(PHRASES, found)]),
    ...(start ? [[start, 'begin the comment with a noun or a verb']] : []),
  ];
}

const paths = process.argv.slice(2);
const listed = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', ...(paths.length > 0 ? paths : CHECKED)],
  {
    encoding: 'utf8',
  },
);
let count = 0;
for (const path of new Set(listed.split('\n').filter(Boolean))) {
  if (SKIPPED.test(path)) continue;
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    continue; // deleted in the work tree, still in the index
  }
  for (const problem of problemsOf(path))
    console.error(`${path}: file name: "${problem[0]}": ${problem[1]}`, ++count);
  text.split('\n').forEach((line, at) => {
    if (DATA[path]?.test(line)) return;
    for (const [found, better] of problemsOf(line)) {
      count++;
      console.error(`${path}:${at + 1}: "${found}": ${better}`);
    }
  });
}
if (count > 0) console.error(`${count} words to replace`);
process.exitCode = count > 0 ? 1 : 0;
