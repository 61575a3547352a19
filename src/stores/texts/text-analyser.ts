import { englishStem } from './english-stem.js';
import { compoundsOf, humpsOf, runsOf, STOP_WORDS, tokensOf } from './terms.js';

/** Maximum number of characters of a word; longer ones are data, and their beginning identifies them. */
const MAX_WORD = 64;
/** Maximum number of tokens whose words are kept; texts of one language have few others. */
const MAX_KEPT = 20_000;

/** Reads the words of documents and of questions: stems without stop words, in any language. */
export class TextAnalyser {
  private readonly kept = new Map<string, readonly string[]>();

  /** Calls a function with each word of a text, in order; an identifier has its parts, and pairs of them joined. */
  forEachWord(text: string, visit: (word: string) => void): void {
    for (const token of tokensOf(text)) for (const word of this.wordsOf(token)) visit(word);
  }

  private wordsOf(token: string): readonly string[] {
    const known = this.kept.get(token);
    if (known) return known;
    const runs = runsOf(token);
    const words = runs.length > 1 ? this.wordsOfRuns(runs) : wordsOfRun(token);
    if (token.length > MAX_WORD) return words;
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(detached(token), words);
    return words;
  }

  /** With pairs of neighbours, since a character of an unspaced script is less than a word (Nie et al. 2000). */
  private wordsOfRuns(runs: readonly string[]): readonly string[] {
    const pairs = compoundsOf(runs.map((run) => run.toLowerCase()));
    return [...runs.flatMap((run) => this.wordsOf(run)), ...pairs];
  }
}

function wordsOfRun(run: string): readonly string[] {
  const humps = humpsOf(run.slice(0, MAX_WORD));
  const words = humps.filter((hump) => !STOP_WORDS.has(hump));
  return [...words, ...compoundsOf(humps)].map((word) => detached(englishStem(word)));
}

/** Maximum number of characters of a slice that engines copy; a longer slice keeps all of its text in memory. */
const COPIED = 12;

/** A copy that does not keep the text in memory from which the word was cut. */
function detached(word: string): string {
  return word.length > COPIED ? word.split('').join('') : word;
}
