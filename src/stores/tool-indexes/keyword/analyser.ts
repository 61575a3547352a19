import { SchemaTexts } from '../schema-texts.js';
import type { ToolReference } from '../tool-index.js';
import type { Ranking } from './ranking.js';
import { type Terms, termsOfToken, tokensOf } from '../../texts/terms.js';

/** The words of a tool. */
export interface Analysis {
  /** Weight of each word. */
  readonly weights: ReadonlyMap<string, number>;
  /** Sum of the weights of all words, counting repetitions. */
  readonly length: number;
  /** Words of the name, a gap, words of the description: the text in which word pairs are searched. */
  readonly sequence: readonly string[];
  /** Length of all texts. */
  readonly characters: number;
}

/** Stands between name and description; no word of a query. */
export const GAP = '';
/** Maximum number of characters read of a text; definitions come from third parties. */
const MAX_TEXT = 20_000;
/** Maximum number of words in each half of a sequence. */
const MAX_SEQUENCE = 500;

/** Weighs the words of tools; reads each token of them once. */
export class Analyser {
  private readonly terms = new Map<string, Terms>();

  constructor(private readonly ranking: Ranking) {}

  analyse({ name, description, inputSchema, category = '' }: ToolReference): Analysis {
    const schema = new SchemaTexts(inputSchema);
    const details = [...schema.parameterDescriptions, ...schema.choices, category];
    const nameTerms = this.read([name]);
    const descriptionTerms = this.read([description]);
    // a tool that is named by stop words is found by them
    const nameStopWords = nameTerms.map(({ stopWords }) => ({ words: stopWords, compounds: [] }));
    const weights = new Map<string, number>();
    const length =
      addField(weights, nameTerms, this.ranking.name) +
      addField(weights, nameStopWords, 1) +
      addField(weights, descriptionTerms, this.ranking.description) +
      addField(weights, this.read(schema.parameterNames), this.ranking.parameterNames) +
      addField(weights, this.read(details), this.ranking.details);
    const sequence = wordsOf(nameTerms).concat(GAP, wordsOf(descriptionTerms));
    const texts = [name, description, ...schema.parameterNames, ...details];
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    return { weights, length, sequence, characters };
  }

  private read(texts: readonly string[]): readonly Terms[] {
    return texts.flatMap((text) =>
      tokensOf(text.slice(0, MAX_TEXT)).map((token) => this.termsOf(token)),
    );
  }

  private termsOf(token: string): Terms {
    let terms = this.terms.get(token);
    if (!terms) this.terms.set(token, (terms = termsOfToken(token)));
    return terms;
  }
}

/** Adds the words of one field of the definition; returns the sum of their weights. */
function addField(
  weights: Map<string, number>,
  tokens: readonly Pick<Terms, 'words' | 'compounds'>[],
  weight: number,
): number {
  const add = (word: string, value: number): void =>
    void weights.set(word, (weights.get(word) ?? 0) + value);
  let length = 0;
  for (const { words, compounds } of tokens) {
    for (const word of words) add(word, weight);
    for (const word of compounds) add(word, weight);
    length += weight * words.length;
  }
  return length;
}

function wordsOf(tokens: readonly Terms[]): string[] {
  return tokens.flatMap(({ words }) => words).slice(0, MAX_SEQUENCE);
}
