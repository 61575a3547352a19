import { SchemaTexts } from '../../tool-search/schema-texts.js';
import type { ToolReference } from '../../tool-search/tool-index.js';
import { type Terms, termsOfToken, tokensOf } from './terms.js';

/** The words of a tool. */
export interface Analysis {
  /** Weight of each word. */
  readonly weights: ReadonlyMap<string, number>;
  /** Sum of the weights of all words, counting repetitions. */
  readonly length: number;
  /** Words of the name, a gap, words of the description: the text in which word pairs are searched. */
  readonly sequence: readonly string[];
}

/** Maximum number of characters read of a text; definitions come from third parties. */
const MAX_TEXT = 20_000;
/** Maximum number of words in each half of a sequence. */
const MAX_SEQUENCE = 500;
const GAP = '';
/** Weight of a compound, relative to its parts. */
const COMPOUND = 0.5;

/** Weighs the words of tools; reads each token of them once. */
export class Analyser {
  private readonly terms = new Map<string, Terms>();

  analyse(reference: ToolReference): Analysis {
    const texts = new SchemaTexts(reference.inputSchema);
    const name = this.read([reference.name]);
    const description = this.read([reference.description]);
    const weights = new Map<string, number>();
    const length =
      addField(weights, name, 2, Infinity) +
      addField(weights, description, 1.5, Infinity) +
      // a long list of parameters makes a tool no more relevant, so repetitions count little there
      addField(weights, this.read(texts.parameterNames), 1, 2) +
      addField(weights, this.read(texts.parameterDescriptions), 0.5, 1) +
      addField(weights, this.read(texts.choices), 0.5, 0.5) +
      // a tool that is named by stop words is found by them
      addField(
        weights,
        name.map(({ stopWords }) => ({ words: stopWords, compounds: [] })),
        1,
        Infinity,
      );
    return { weights, length, sequence: [...wordsOf(name), GAP, ...wordsOf(description)] };
  }

  private read(texts: readonly string[]): readonly Terms[] {
    const tokens: Terms[] = [];
    for (const text of texts)
      for (const token of tokensOf(text.slice(0, MAX_TEXT))) tokens.push(this.termsOf(token));
    return tokens;
  }

  private termsOf(token: string): Terms {
    let terms = this.terms.get(token);
    if (!terms) this.terms.set(token, (terms = termsOfToken(token)));
    return terms;
  }
}

/**
 * Adds the words of one field of the definition; returns the sum of their weights.
 * @param weight weight of each occurrence
 * @param max maximum weight of a word in the field
 */
function addField(
  weights: Map<string, number>,
  tokens: readonly Pick<Terms, 'words' | 'compounds'>[],
  weight: number,
  max: number,
): number {
  const field = max === Infinity ? weights : new Map<string, number>();
  let length = 0;
  for (const { words, compounds } of tokens) {
    for (const word of words) add(field, word, weight);
    for (const word of compounds) add(field, word, weight * COMPOUND);
    length += weight * words.length;
  }
  if (field !== weights) for (const [word, sum] of field) add(weights, word, Math.min(sum, max));
  return length;
}

function add(weights: Map<string, number>, word: string, weight: number): void {
  weights.set(word, (weights.get(word) ?? 0) + weight);
}

function wordsOf(tokens: readonly Terms[]): readonly string[] {
  return tokens.flatMap(({ words }) => words).slice(0, MAX_SEQUENCE);
}
