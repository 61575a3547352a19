import type { Document, DocumentMetadata } from '../../src/core/chat/document.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { InvalidArgumentError, RetrievalError } from '../../src/core/errors/errors.js';
import { checkOption, isPlainObject, rule } from '../../src/core/internal/options.js';
import { wellFormed } from '../../src/core/internal/well-formed.js';
import type { Observation } from '../../src/core/observation/observation.js';
import { fuseByRank } from '../../src/knowledge/joiners.js';
import type { DocumentRetriever, Query } from '../../src/knowledge/query.js';
import { withinScope } from './within-scope.js';
import { observeRetrieval } from '../../src/core/observation/observe-retrieval.js';
import type { RetrievalAdvisorOptions } from './retrieval-options.js';

/** The parts of a retrieval. */
export type RetrievalParts = Pick<
  RetrievalAdvisorOptions,
  'retriever' | 'transformers' | 'expander' | 'joiner' | 'postProcessors'
>;

const fuse = fuseByRank();

/**
 * The documents for a question, best first, as plain data: transformers, expander, retrievers at the
 * same time, joiner, post-processors.
 * @throws {@link RetrievalError} if a retriever fails; the error of another part
 */
export async function findDocuments(
  { retriever, transformers = [], expander, joiner, postProcessors = [] }: RetrievalParts,
  question: Query,
  observation?: Observation,
): Promise<readonly Document[]> {
  let query = question;
  for (const transform of transformers) query = withinScope(await transform(query), question);
  const expanded = expander ? await expander(query) : [query];
  const queries = expanded.map((each) => withinScope(each, question));
  const retrievers = [retriever].flat() as readonly DocumentRetriever[];
  const results = await Promise.all(
    queries.flatMap((each) => retrievers.map((one, at) => retrieve(one, at, each, observation))),
  );
  const join = joiner ?? (results.length === 1 ? undefined : fuse);
  let documents = join ? await join(results, query) : (results[0] ?? []);
  for (const process of postProcessors) documents = await process(documents, query);
  return documents.map(toPlain);
}

/** Name of a retriever for errors and spans. */
export function nameOf(retriever: DocumentRetriever, at: number): string {
  const type = retriever.constructor?.name;
  return retriever.name ?? (type && type !== 'Object' ? type : `retriever ${at + 1}`);
}

async function retrieve(
  retriever: DocumentRetriever,
  at: number,
  query: Query,
  observation: Observation | undefined,
): Promise<readonly Document[]> {
  const name = nameOf(retriever, at);
  try {
    return await observeRetrieval(observation, name, query, async () => {
      const documents = await retriever.retrieve(query);
      checkOption(`the retriever "${name}"`, 'its result', documents, DOCUMENTS);
      documents.forEach((document, index) => checkDocument(document, name, index));
      return documents;
    });
  } catch (cause) {
    if (query.signal.aborted || hasCode(cause, 'cancelled')) throw cause;
    throw new RetrievalError({ retriever: name, reason: 'failed', cause });
  }
}

const DOCUMENTS = rule('an array of documents', Array.isArray);
const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
const isValue = (value: unknown): boolean =>
  Array.isArray(value) ? value.every(isScalar) : isScalar(value);

/** @throws {@link InvalidArgumentError} for a document of a retriever in JavaScript that is none */
function checkDocument(document: Document, name: string, at: number): void {
  const { id, text, metadata = {} } = document ?? {};
  const problem =
    typeof id !== 'string' || typeof text !== 'string'
      ? 'needs `id` and `text`, both strings'
      : !isPlainObject(metadata) || !Object.values(metadata).every(isValue)
        ? 'has `metadata` with other values than strings, numbers, booleans and lists of them'
        : undefined;
  if (problem)
    throw new InvalidArgumentError(`the retriever "${name}": its document ${at} ${problem}`);
}

/** A document as JSON of well-formed texts, without its vector. */
function toPlain({ id, text, metadata, score }: Document): Document {
  return {
    id: wellFormed(id),
    text: wellFormed(text),
    ...(metadata && { metadata: plainMetadata(metadata) }),
    ...(Number.isFinite(score) && { score }),
  };
}

function plainMetadata(metadata: DocumentMetadata): DocumentMetadata {
  const plain = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(plain) : typeof value === 'string' ? wellFormed(value) : value;
  const entries = Object.entries(metadata).map(([name, value]) => [wellFormed(name), plain(value)]);
  return Object.fromEntries(entries) as DocumentMetadata;
}
