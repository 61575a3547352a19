// The cost of text rules: CPU nanoseconds for each chunk of a stream, and the longest text that is held back.
import { piiRule, secretRule, wordRule, type TextRule } from '../src/index.js';
import { StreamRedactor } from '../advisors/guard/redaction.js';

const CHUNKS = 50_000;
const ROUNDS = 7;

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  'plain English': [
    ' word',
    ' and',
    ' the',
    ' next',
    ' sentence',
    ',',
    ' which',
    ' is',
    ' longer',
    '.',
  ],
  'English with digits and signs': [
    ' well',
    '-known',
    ' in',
    ' 202',
    '4',
    ':',
    ' `a',
    '_b`',
    ' (see',
    ' 3.1)',
  ],
  Russian: [' слово', ' и', ' ещё', ' одно', ' предложение', ',', ' которое', ' дл', 'иннее', '.'],
  Chinese: ['今天', '的', '天气', '很', '好', '，', '我们', '去', '公园', '。'],
};
const RULES: Readonly<Record<string, readonly TextRule[]>> = {
  'no rule': [],
  wordRule: [wordRule({ words: ['badword', 'idiot', 'secret plan', 'darn', 'heck'] })],
  piiRule: [piiRule()],
  secretRule: [secretRule()],
  'all three': [
    wordRule({ words: ['badword', 'idiot', 'secret plan', 'darn', 'heck'] }),
    piiRule(),
    secretRule(),
  ],
};

/** CPU nanoseconds a chunk. */
function costOf(
  chunks: readonly string[],
  rules: readonly TextRule[],
): { cost: number; held: number } {
  const redactor = new StreamRedactor(rules);
  let held = 0;
  const before = process.cpuUsage();
  for (let at = 0; at < CHUNKS; at++) {
    redactor.push(chunks[at % chunks.length] as string);
    held = Math.max(held, redactor.held);
  }
  const { user, system } = process.cpuUsage(before);
  return { cost: ((user + system) * 1_000) / CHUNKS, held };
}

for (const [name, chunks] of Object.entries(TEXTS))
  for (const [rule, rules] of Object.entries(RULES)) {
    const rounds = Array.from({ length: ROUNDS }, () => costOf(chunks, rules));
    const cost = rounds.map((each) => each.cost).toSorted((a, b) => a - b)[ROUNDS >> 1];
    console.log(
      `${name}, ${rule}: ${cost?.toFixed(0)} ns a chunk, at most ${rounds[0]?.held} characters held back`,
    );
  }
