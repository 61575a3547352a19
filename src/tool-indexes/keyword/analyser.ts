import { referenceTexts } from '../../tool-search/reference-texts.js';
import type { ToolReference } from '../../tool-search/tool-index.js';
import { termsOfToken, tokensOf } from './terms.js';

/** The words of a tool. */
export interface Analysis {
  /** Each word once. */
  readonly words: readonly string[];
  /** Weight of each of them. */
  readonly weights: readonly number[];
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

/** A word with its weight in the current tool: faster than a map of weights for each tool. */
interface Word {
  readonly text: string;
  fieldWeight: number;
  weight: number;
}

/** The words of one token. */
interface Token {
  readonly words: readonly Word[];
  readonly stopWords: readonly Word[];
  readonly compounds: readonly Word[];
}

/** Weighs the words of tools. */
export class Analyser {
  private readonly words = new Map<string, Word>();
  private readonly tokens = new Map<string, Token>();
  private found: Word[] = [];
  private length = 0;

  analyse(reference: ToolReference): Analysis {
    const { parameterNames, parameterDescriptions, choices } = referenceTexts(reference);
    const name = this.read([reference.name]);
    const description = this.read([reference.description]);
    this.addField(name, 2, Infinity);
    this.addField(description, 1.5, Infinity);
    // a long list of parameters makes a tool no more relevant, so repetitions count little there
    this.addField(this.read(parameterNames), 1, 2);
    this.addField(this.read(parameterDescriptions), 0.5, 1);
    this.addField(this.read(choices), 0.5, 0.5);
    // a tool that is named by stop words is found by them
    const stopWords = name.flatMap((token) => token.stopWords);
    this.addField([{ words: stopWords, stopWords: [], compounds: [] }], 1, Infinity);
    return this.finish([...textsOf(name), GAP, ...textsOf(description)]);
  }

  private read(texts: readonly string[]): readonly Token[] {
    const tokens: Token[] = [];
    for (const text of texts)
      for (const token of tokensOf(text.slice(0, MAX_TEXT)))
        tokens.push(this.tokens.get(token) ?? this.readToken(token));
    return tokens;
  }

  private readToken(text: string): Token {
    const { words, stopWords, compounds } = termsOfToken(text);
    const toWords = (terms: readonly string[]) => terms.map((term) => this.wordOf(term));
    const token = {
      words: toWords(words),
      stopWords: toWords(stopWords),
      compounds: toWords(compounds),
    };
    this.tokens.set(text, token);
    return token;
  }

  private wordOf(text: string): Word {
    let word = this.words.get(text);
    if (!word) this.words.set(text, (word = { text, fieldWeight: 0, weight: 0 }));
    return word;
  }

  /**
   * Adds the words of one field of the definition.
   * @param weight weight of each occurrence
   * @param max maximum weight of a word in the field
   */
  private addField(tokens: readonly Token[], weight: number, max: number): void {
    const inField: Word[] = [];
    for (const { words, compounds } of tokens) {
      for (const word of words) addWord(inField, word, weight);
      for (const word of compounds) addWord(inField, word, weight * COMPOUND);
      this.length += weight * words.length;
    }
    for (const word of inField) {
      if (word.weight === 0) this.found.push(word);
      word.weight += Math.min(word.fieldWeight, max);
      word.fieldWeight = 0;
    }
  }

  private finish(sequence: readonly string[]): Analysis {
    const { found, length } = this;
    const words = found.map(({ text }) => text);
    const weights = found.map(({ weight }) => weight);
    for (const word of found) word.weight = 0;
    this.found = [];
    this.length = 0;
    return { words, weights, length, sequence };
  }
}

function addWord(inField: Word[], word: Word, weight: number): void {
  if (word.fieldWeight === 0) inField.push(word);
  word.fieldWeight += weight;
}

function textsOf(tokens: readonly Token[]): readonly string[] {
  const texts: string[] = [];
  for (const { words } of tokens)
    for (const { text } of words) {
      if (texts.length === MAX_SEQUENCE) return texts;
      texts.push(text);
    }
  return texts;
}
