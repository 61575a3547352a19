import { isPlain, partsOf, tokensOf } from './terms.js';
import { TokenTable } from './token-table.js';

/** The words of a run of letters or digits, by their numbers in a vocabulary. */
export interface WordNumbers {
  /** In their order, without stop words. */
  readonly words: readonly number[];
  readonly stopWords: readonly number[];
  readonly compounds: readonly number[];
}

/** Definitions come from others: what goes on for longer is not read to its end. */
const MAX_TEXT = 20_000;

/** The words of an index, numbered from 0 as they come. */
export class Vocabulary {
  private readonly numbers = new Map<string, number>();
  private tokens = this.newTokens();

  /** The number of a word that is known. */
  find(word: string): number | undefined {
    return this.numbers.get(word);
  }

  /** The words of a text; new ones are added. */
  read(text: string): readonly WordNumbers[] {
    const start = text.slice(0, MAX_TEXT);
    return isPlain(start) ? this.tokens.read(start) : tokensOf(start).map((token) => this.numbersOf(token));
  }

  /** Forgets what only makes reading faster. */
  shrink(): void {
    this.tokens = this.newTokens();
  }

  private newTokens(): TokenTable {
    return new TokenTable((token) => this.numbersOf(token));
  }

  private numbersOf(token: string): WordNumbers {
    const { words, stopWords, compounds } = partsOf(token);
    const number = (word: string): number => this.numberOf(word);
    return { words: words.map(number), stopWords: stopWords.map(number), compounds: compounds.map(number) };
  }

  private numberOf(word: string): number {
    let number = this.numbers.get(word);
    if (number === undefined) this.numbers.set(word, (number = this.numbers.size));
    return number;
  }
}
