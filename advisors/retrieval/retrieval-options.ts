import { AdvisorOrder } from '../../src/core/advisor/advisor.js';
import {
  placeOf,
  type AdvisorPlace,
  type CheckedPlace,
} from '../../src/core/advisor/advisor-place.js';
import { ContextKey, type AdvisorContext } from '../../src/core/chat/context.js';
import { RetrievalError } from '../../src/core/errors/errors.js';
import {
  BOOLEAN,
  FUNCTION,
  hasMethods,
  integer,
  oneOf,
  required,
  rule,
  TEXT,
} from '../../src/core/internal/options.js';
import type {
  DocumentJoiner,
  DocumentPostProcessor,
  DocumentRetriever,
  Query,
  QueryExpander,
  QueryTransformer,
} from '../../src/knowledge/query.js';
import { checkFilter, type Filter } from '../../src/stores/vectors/filter.js';
import type { Source } from './source.js';

/** Narrows the retrieval of one request to documents with this metadata, within its scope. */
export const RETRIEVAL_FILTER = new ContextKey<Filter | undefined>('retrieval_filter');

/** Options of a `RetrievalAdvisor`; `retriever` and `scope` are required. */
export interface RetrievalAdvisorOptions extends AdvisorPlace {
  /** Finds documents for a question; several search at the same time. */
  readonly retriever: DocumentRetriever | readonly DocumentRetriever[];
  /**
   * Returns the namespace of the documents that the request may find, such as the id of its tenant.
   * It is the application's: no filter and no transformer finds a document outside. Undefined: the
   * turn ends with a `RetrievalError`, unless its question is blank.
   */
  readonly scope: (context: AdvisorContext) => string | undefined;
  /** Change the query before the search, in order. @default none */
  readonly transformers?: readonly QueryTransformer[] | undefined;
  /** Makes several queries of one, which are searched at the same time. @default none */
  readonly expander?: QueryExpander | undefined;
  /** Joins several results. @default fuseByRank() for several, one result unchanged */
  readonly joiner?: DocumentJoiner | undefined;
  /** Change the documents that were found, in order. @default none */
  readonly postProcessors?: readonly DocumentPostProcessor[] | undefined;
  /**
   * Returns the text that the model gets beside the question; of an empty list with `onEmpty: 'tell'`.
   * @default each document as a line of JSON, with rules for the answer
   */
  readonly template?: ((sources: readonly Source[], query: Query) => string) | undefined;
  /**
   * Handling of a question without documents: the model is asked to decline it (`tell`), `refusal`
   * is the answer (`refuse`), or the model answers as without this advisor (`answer`).
   * @default 'tell'
   */
  readonly onEmpty?: 'answer' | 'refuse' | 'tell' | undefined;
  /** Answer without documents, with `onEmpty: 'refuse'`. @default a polite refusal */
  readonly refusal?: string | undefined;
  /**
   * Maximum number of characters of all documents, an integer >= 1. A document that does not fit is
   * left out; the best one is cut. @default 32_000
   */
  readonly maxCharacters?: number | undefined;
  /**
   * True if the application has written the documents: a guard does not judge them. @default false
   */
  readonly trusted?: boolean | undefined;
  /** Position, right of the memory and left of the loop. @default AdvisorOrder.RETRIEVAL */
  readonly order?: number | undefined;
}

const FUNCTIONS = rule(
  'an array of functions',
  (value) => Array.isArray(value) && value.every(FUNCTION.accepts),
);
const isRetriever = (value: unknown): boolean => hasMethods(value, ['retrieve']);

/** A retriever, or several. */
export const RETRIEVERS = rule('a DocumentRetriever with retrieve, or several', (value) =>
  Array.isArray(value) ? value.length > 0 && value.every(isRetriever) : isRetriever(value),
);

const RULES = {
  retriever: required(RETRIEVERS),
  scope: required(FUNCTION),
  transformers: FUNCTIONS,
  expander: FUNCTION,
  joiner: FUNCTION,
  postProcessors: FUNCTIONS,
  template: FUNCTION,
  onEmpty: oneOf('answer', 'refuse', 'tell'),
  refusal: TEXT,
  maxCharacters: integer(1),
  trusted: BOOLEAN,
};

/**
 * The namespace of a request.
 * @throws {@link RetrievalError} if it has none
 */
export function scopeOf(scope: RetrievalAdvisorOptions['scope'], context: AdvisorContext): string {
  const namespace = scope(context);
  if (namespace === undefined || !TEXT.accepts(namespace))
    throw new RetrievalError({ reason: 'no-scope' });
  return namespace;
}

/**
 * The filter of a request.
 * @throws {@link InvalidArgumentError} if it is another value
 */
export function filterOf(context: AdvisorContext): Filter | undefined {
  const filter = context.get(RETRIEVAL_FILTER);
  if (filter !== undefined) checkFilter('RETRIEVAL_FILTER', filter);
  return filter;
}

/** @throws {@link InvalidArgumentError} if an option is missing or invalid */
export function checkRetrievalOptions(options: RetrievalAdvisorOptions): CheckedPlace {
  const place = { name: 'retrieval', order: AdvisorOrder.RETRIEVAL };
  return placeOf('RetrievalAdvisor', options, RULES, place);
}
