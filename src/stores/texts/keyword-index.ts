import type { ModelRun } from '../../core/chat/chat-model.js';
import type { Document } from '../../core/chat/document.js';
import { cancelledError } from '../../core/internal/cancellation.js';
import {
  CHECKED_APART,
  checkOptions,
  integer,
  numberBetween,
  required,
  rule,
} from '../../core/internal/options.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import type { Condition } from '../vectors/condition.js';
import {
  checkedDocuments,
  checkedListQuery,
  checkedReplaces,
  checkedSelection,
  checkNamespace,
} from '../vectors/document-checks.js';
import type { DocumentStore, ListQuery, UpsertOptions } from '../vectors/document-store.js';
import { type Filter, filterMatcher, matcherOf } from '../vectors/filter.js';
import { pageOf } from '../vectors/page-of.js';
import { type DocumentWords, wordsOfDocument } from './document-words.js';
import { TextAnalyser } from './text-analyser.js';
import { TextCorpus } from './text-corpus.js';
import { TextSearch } from './text-search.js';

/** A search for the documents with the words of a text. */
export interface TextQuery {
  /** A question or words; the first 8,000 characters and 200 words count. */
  readonly text: string;
  /** Maximum number of documents; an integer >= 1. */
  readonly topK: number;
  /** Minimum score, 0 to 1. @default 0 */
  readonly minScore?: number | undefined;
  /** @default all documents of the namespace */
  readonly filter?: Filter | undefined;
}

const WHERE = 'KeywordIndex';
const QUERY_RULES = {
  text: required(rule('a string', (text) => typeof text === 'string')),
  topK: required(integer(1)),
  minScore: numberBetween(0, 1),
  filter: CHECKED_APART,
};

/**
 * Keeps documents in this process and finds them by the words of their texts, and of `title` and `headings` in
 * their metadata. Reads the forms of English words, the parts of identifiers, and all languages. Needs
 * no model and no network. The rank of a document depends on its namespace alone. Vectors are not kept.
 */
export class KeywordIndex implements DocumentStore {
  private readonly analyser = new TextAnalyser();
  private readonly corpora = new Map<string, TextCorpus>();
  /** Resolves when all writes so far have ended. */
  private writes: Promise<unknown> = Promise.resolve();

  /** @throws {@link InvalidArgumentError} if a document is invalid; a {@link CancelledError} if `signal` was aborted */
  async upsert(
    namespace: string,
    documents: readonly Document[],
    options: UpsertOptions = {},
  ): Promise<void> {
    checkNamespace(WHERE, namespace);
    const replaces = checkedReplaces(WHERE, options);
    const checked = checkedDocuments(WHERE, documents);
    await this.inOrder(async () => {
      const analysed = await this.analyse(checked, options.signal);
      this.write(namespace, analysed, replaces);
    });
  }

  /**
   * The best documents with a word of the text, best first; none for a missing namespace. A score is the share of the
   * words that were searched, weighed by their rarity, from 0 to 1.
   * @throws {@link InvalidArgumentError} if the query is invalid; a {@link CancelledError} if the run was cancelled
   */
  async search(
    namespace: string,
    query: TextQuery,
    { signal }: ModelRun = {},
  ): Promise<readonly Document[]> {
    checkNamespace(WHERE, namespace);
    checkOptions(WHERE, query, QUERY_RULES);
    const { text, topK, minScore = 0, filter } = query;
    const accepts = filter && filterMatcher(WHERE, filter);
    if (signal?.aborted) throw cancelledError(signal.reason);
    const corpus = this.corpora.get(namespace);
    if (!corpus) return [];
    return new TextSearch(corpus, this.analyser, accepts)
      .find(text, topK)
      .filter(({ score }) => score >= minScore)
      .flatMap(({ slot, score }) => {
        const document = corpus.documentAt(slot);
        return document ? [{ ...document, score }] : [];
      });
  }

  async list(namespace: string, query: ListQuery = {}): Promise<readonly Document[]> {
    checkNamespace(WHERE, namespace);
    const checked = checkedListQuery(WHERE, query);
    const corpus = this.corpora.get(namespace);
    return corpus ? pageOf(corpus, checked) : [];
  }

  async delete(namespace: string, selection: readonly string[] | Filter): Promise<void> {
    checkNamespace(WHERE, namespace);
    const checked = checkedSelection(WHERE, selection);
    await this.inOrder(() => {
      const corpus = this.corpora.get(namespace);
      if (!corpus) return;
      const ids = 'type' in checked ? corpus.accepted(matcherOf(checked)) : checked;
      for (const id of ids) corpus.remove(id);
      if (corpus.size === 0) this.corpora.delete(namespace);
    });
  }

  async clear(namespace: string): Promise<void> {
    checkNamespace(WHERE, namespace);
    await this.inOrder(() => void this.corpora.delete(namespace));
  }

  /** Writes take effect in the order of the calls, however long the analysis of one takes. */
  private inOrder(write: () => void | Promise<void>): Promise<void> {
    const written = this.writes.then(write);
    // the caller gets the error; the next write begins all the same
    this.writes = written.catch(() => undefined);
    return written;
  }

  private async analyse(
    documents: readonly Document[],
    signal: AbortSignal | undefined,
  ): Promise<readonly AnalysedDocument[]> {
    const slice = new TimeSlice();
    const analysed: AnalysedDocument[] = [];
    for (const { id, text, metadata } of documents) {
      await slice.next();
      if (signal?.aborted) throw cancelledError(signal.reason);
      const document = { id, text, ...(metadata && { metadata }) };
      analysed.push({ document, words: wordsOfDocument(document, this.analyser) });
    }
    return analysed;
  }

  /** Synchronous, so that readers see all of it or nothing. */
  private write(
    namespace: string,
    documents: readonly AnalysedDocument[],
    replaces: Condition | undefined,
  ): void {
    const corpus = this.corpora.get(namespace) ?? new TextCorpus();
    const added = new Set(documents.map(({ document }) => document.id));
    const replaced = replaces ? corpus.accepted(matcherOf(replaces)) : [];
    for (const id of replaced) if (!added.has(id)) corpus.remove(id);
    for (const { document, words } of documents) corpus.add(document, words);
    if (corpus.size > 0) this.corpora.set(namespace, corpus);
    else this.corpora.delete(namespace);
  }
}

/** A document and its words. */
interface AnalysedDocument {
  readonly document: Document;
  readonly words: DocumentWords;
}
