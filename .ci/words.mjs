// Words check: one plain vocabulary in code, tests and docs, and pages whose source can be read in an editor.
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
  'rung|rungs|climb|climbs|climbed|climbing|ladder': 'strategy, compact, Compactor',
  'land|lands|landed|landing': 'the final answer ("allows a final answer"), arrive, be in',
};
const PHRASES = {
  'by half': 'atomically',
  'as it is(?! (?:defined|documented))|as they are': 'unchanged',
  '(?:hand|hands|handed|handing) on': 'pass, forward, flush',
  'a whole number(?: of)?|an integer of \\d+|a positive integer': 'an integer >= N',
  'non-blank text|non-empty text|a text without': 'a non-blank string',
  '(?:go|goes|going|gone|went) on': 'continue, resume, keep; "a resumed turn"',
  '(?:that|those) of': 'name the thing: "the limits of the model", "the model\'s"',
  '(?:stand|stands|standing|stood) for': 'represent, replace, mean; "the replaced messages"',
  '(?<!there )is (?:none|no) [a-z]+ of|none of its own':
    'a verb with "not": "is not counted", "does not belong to"',
};
const COMMENT_START =
  /^\s*(?:\/\*\*|\/\/|\*(?= [A-Z]))\s*(What|Whether|Who|How|Where|Something|Whatever)\b/;

/** Lines of data: the stop words of the keyword index, words of questions, the prompts of recorded turns. */
const DATA = {
  'advisors/response-cache/question-words.ts': /^  '.*'(?: \+|;)$/,
  'advisors/response-cache/same-question.ts': /^  \/\^/,
  'test/advisors/response-cache/same-question.test.ts': /^  \[/,
  'test/support/question-pairs.ts': /^ +\[?['"`]|=> `/,
  'src/stores/texts/terms.ts': /^  [a-z ]+(`.*)?$/,
  'test/fixtures/recorded-turns.json': /Go on\./,
  'test/integration/recorded-step-names.test.ts': /message: 'Go on\.'/,
};

/** Values of options that are verbs of the application to the model: `onEmpty: 'tell'`. */
const VALUES = /`?'tell'`?|`tell`/g;

const CHECKED = ['src', 'advisors', 'test', 'docs', 'examples', 'bench', '.ci', '*.md', '*.json'];
const SKIPPED =
  /^(.*\.png|\.ci\/words\.mjs|package-lock\.json|test\/ci\/words\.slow\.test\.ts|LICENSE)$/;

/** Pages with a bound for the length of a line: text, and rows of tables. */
const PAGES =
  /^(?:docs\/(?:(?:advisors|models)\/)?[^/]+|README|CONTRIBUTING|SECURITY|CHANGELOG)\.md$/;
const MAX_TEXT = 159;
const MAX_ROW = 300;

const matchers = new Map(
  [WORDS, PHRASES].map((table) => [
    table,
    new RegExp(`\\b(?:${Object.keys(table).join('|')})\\b`, 'gi'),
  ]),
);

function found(text, table) {
  return [...text.matchAll(matchers.get(table))].map(([word]) => [word, betterWord(table, word)]);
}

function betterWord(table, word) {
  const pattern = Object.keys(table).find((each) => new RegExp(`^(?:${each})$`, 'i').test(word));
  return table[pattern];
}

function problemsOf(text) {
  const line = text.replace(VALUES, '');
  const split = line.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ');
  const start = COMMENT_START.exec(line)?.[1];
  return [
    ...found(split, WORDS),
    ...found(line, PHRASES),
    ...(start ? [[start, 'begin the comment with a noun or a verb']] : []),
  ];
}

/** The lines of a page that are too long, outside of code. */
function longLines(page) {
  let code = false;
  return page.split('\n').flatMap((line, at) => {
    const fence = /^\s*```/.test(line);
    if (fence) code = !code;
    const isRow = line.startsWith('|');
    if (fence || code || line.length <= (isRow ? MAX_ROW : MAX_TEXT)) return [];
    const advice = isRow ? 'shorten the cells of the table' : `wrap text before ${MAX_TEXT + 1}`;
    return [`${at + 1}: ${line.length} characters: ${advice}`];
  });
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
let longCount = 0;
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
  for (const problem of PAGES.test(path) ? longLines(text) : []) {
    longCount++;
    console.error(`${path}:${problem}`);
  }
  text.split('\n').forEach((line, at) => {
    if (DATA[path]?.test(line)) return;
    for (const [word, better] of problemsOf(line)) {
      count++;
      console.error(`${path}:${at + 1}: "${word}": ${better}`);
    }
  });
}
if (count > 0) console.error(`${count} words to replace`);
if (longCount > 0) console.error(`${longCount} lines to shorten`);
process.exitCode = count + longCount > 0 ? 1 : 0;
