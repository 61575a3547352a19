import { UNTRUSTED, type UntrustedText } from '../../src/core/advisor/untrusted-text.js';
import type { AdvisorContext } from '../../src/core/chat/context.js';
import type { Document } from '../../src/core/chat/document.js';
import { PORTABLE_NAME } from '../../src/core/chat/tool-definition.js';
import { RunRecord } from '../../src/core/chat/run-record.js';
import { cancellationOf } from '../../src/core/internal/cancellation.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  PLAIN_OBJECT,
  required,
  TEXT,
} from '../../src/core/internal/options.js';
import { jsonSchemaValidator } from '../../src/core/json-schema/validator.js';
import { TURN_OBSERVATION } from '../../src/core/observation/ask-model.js';
import { toolResult } from '../../src/core/tool/tool-result.js';
import type { NamedTool, ToolContext } from '../../src/core/tool/tool.js';
import type { DocumentRetriever, Query } from '../../src/knowledge/query.js';
import { limited, resultText } from './context-text.js';
import { findDocuments } from './find-documents.js';
import { judgedDocuments } from './judged-documents.js';
import { filterOf, RETRIEVERS, scopeOf } from './retrieval-options.js';
import { FINDS_SOURCES, toSources, type Source } from './source.js';

/** Options of {@link knowledgeTool}; `retriever` and `scope` are required. */
export interface KnowledgeToolOptions {
  /** Finds documents; several search at the same time, and their results are joined by rank. */
  readonly retriever: DocumentRetriever | readonly DocumentRetriever[];
  /**
   * Returns the namespace of the documents that the request may find, such as the id of its tenant.
   * Undefined: the call fails with a `RetrievalError`. The model cannot change it.
   */
  readonly scope: (context: AdvisorContext) => string | undefined;
  /** Name of the tool. @default 'search_knowledge' */
  readonly name?: string | undefined;
  /** Description for the model: which documents there are. @default a general one */
  readonly description?: string | undefined;
  /** Maximum number of documents of a result, an integer >= 1. @default 5 */
  readonly topK?: number | undefined;
  /** Maximum number of characters of a result, an integer >= 1. @default 16_000 */
  readonly maxCharacters?: number | undefined;
  /** True if the application has written the documents. @default false */
  readonly trusted?: boolean | undefined;
}

const NAME = 'knowledgeTool';
const RULES = {
  retriever: required(RETRIEVERS),
  scope: required(FUNCTION),
  name: PORTABLE_NAME,
  description: TEXT,
  topK: integer(1),
  maxCharacters: integer(1),
  trusted: BOOLEAN,
};
const DESCRIPTION =
  'Searches documents for what you need to know to answer. Write in `query` what you look for, in ' +
  'the words that a document would have. Search again with other words if the result does not have it.';
const INPUT = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What you look for.' } },
  required: ['query'],
} as const;

/** The arguments of {@link knowledgeTool}. */
interface Search {
  readonly query: string;
}

/**
 * Makes a tool by which the model searches documents, as often as it needs to. A result has the
 * documents as data of others, and the keys by which an answer cites them; each search emits the
 * event `sources`.
 * @throws {@link InvalidArgumentError} if an option is missing or invalid
 */
export function knowledgeTool(
  options: KnowledgeToolOptions,
): NamedTool<string, Search, readonly Source[]> {
  checkOption(NAME, 'the argument', options, PLAIN_OBJECT);
  checkOptions(NAME, options, RULES);
  const { name = 'search_knowledge', description = DESCRIPTION, trusted } = options;
  return {
    name,
    definition: { name, description, inputSchema: INPUT },
    // an equal call of another tenant must not get the result
    metadata: { effect: 'read', cacheable: false, ...(!trusted && UNTRUSTED), ...FINDS_SOURCES },
    validate: jsonSchemaValidator(INPUT),
    call: (args, context) => search(options, name, (args as Search).query, context),
  };
}

async function search(
  options: KnowledgeToolOptions,
  origin: string,
  text: string,
  { advisorContext: context, signal, emit }: ToolContext,
): Promise<unknown> {
  const { retriever, scope, topK = 5, maxCharacters = 16_000 } = options;
  const run = RunRecord.of(signal);
  const namespace = scopeOf(scope, context);
  const query: Query = { text, namespace, filter: filterOf(context), history: [], context, signal };
  const found =
    text.trim() === ''
      ? []
      : await findDocuments({ retriever }, query, run && TURN_OBSERVATION.get(run));
  const fitting = limited(found.slice(0, topK), maxCharacters);
  const documents: readonly Document[] =
    options.trusted || !run
      ? fitting
      : await judgedDocuments(fitting, placeOf({ origin, run, context, emit }, signal));
  const sources = toSources(documents);
  emit({ type: 'custom', name: 'sources', data: { origin, documents: sources } });
  return toolResult({ content: resultText(sources), value: sources });
}

function placeOf(
  place: Pick<UntrustedText, 'origin' | 'run' | 'context' | 'emit'>,
  signal: AbortSignal,
): Omit<UntrustedText, 'text'> {
  return { ...place, cancellation: cancellationOf(signal) };
}
