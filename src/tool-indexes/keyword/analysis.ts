import { referenceTexts } from '../../tool-search/reference-texts.js';
import type { ToolReference } from '../../tool-search/tool-index.js';
import type { Vocabulary, WordNumbers } from './vocabulary.js';
import { WordWeights } from './word-weights.js';

/** A tool as an index sees it; its words are numbers of a vocabulary. */
export interface Analysis {
  /** Each word once. */
  readonly words: readonly number[];
  /** What each of them weighs. */
  readonly weights: readonly number[];
  /** Sum of the weights of all words, as often as they stand there. */
  readonly length: number;
  /** The words of the name, a gap, and the words of the description: what stands together. */
  readonly sequence: readonly number[];
}

/** In place of a word, where two texts meet. */
const GAP = -1;
/** Of a word that was put together from parts, which count too. */
const COMPOUND = 0.5;
/** What stands together is looked for among so many words. */
const MAX_SEQUENCE = 500;

/** Weighs the words of tools. */
export class Analyser {
  private readonly place = new WordWeights();
  private readonly all = new WordWeights();
  private length = 0;

  /** @param vocabulary gets the words that are new */
  constructor(private readonly vocabulary: Vocabulary) {}

  analyse(reference: ToolReference): Analysis {
    const { parameterNames, parameterDescriptions, choices } = referenceTexts(reference);
    const [name, description] = [this.vocabulary.read(reference.name), this.vocabulary.read(reference.description)];
    this.length = 0;
    this.add(name, 2);
    this.endPlace(Infinity);
    this.add(description, 1.5);
    this.endPlace(Infinity);
    // with a long list of parameters a tool fits no better, so what is repeated there counts little
    for (const text of parameterNames) this.add(this.vocabulary.read(text), 1);
    this.endPlace(2);
    for (const text of parameterDescriptions) this.add(this.vocabulary.read(text), 0.5);
    this.endPlace(1);
    for (const text of choices) this.add(this.vocabulary.read(text), 0.5);
    this.endPlace(0.5);
    // a tool that is called `who_is` is to be found by just that
    for (const { stopWords } of name)
      for (const word of stopWords) {
        this.all.add(word, 1);
        this.length += 1;
      }
    return { ...this.all.take(), length: this.length, sequence: sequenceOf(name, description) };
  }

  private add(parts: readonly WordNumbers[], worth: number): void {
    for (const { words, compounds } of parts) {
      for (const word of words) this.place.add(word, worth);
      for (const word of compounds) this.place.add(word, worth * COMPOUND);
      this.length += worth * words.length;
    }
  }

  /** @param most what a word may weigh in one place */
  private endPlace(most: number): void {
    this.place.moveTo(this.all, most);
  }
}

function sequenceOf(name: readonly WordNumbers[], description: readonly WordNumbers[]): readonly number[] {
  const sequence: number[] = [];
  addWords(name, sequence);
  sequence.push(GAP);
  addWords(description, sequence);
  return sequence;
}

function addWords(parts: readonly WordNumbers[], sequence: number[]): void {
  const most = sequence.length + MAX_SEQUENCE;
  for (const { words } of parts)
    for (const word of words) {
      if (sequence.length >= most) return;
      sequence.push(word);
    }
}
