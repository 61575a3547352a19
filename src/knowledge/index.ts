export type { Document, DocumentMetadata, MetadataValue, Scalar } from '../core/chat/document.js';
export type {
  DocumentJoiner,
  DocumentPostProcessor,
  DocumentRetriever,
  Query,
  QueryExpander,
  QueryTransformer,
} from './query.js';
export { factsOf, type FactsOptions } from './facts-of.js';
export { insightsOf } from './insights-of.js';
export { parseSkill } from './skills/parse-skill.js';
export type { Skill, SkillFile } from './skills/skill.js';
export {
  skillTools,
  useSkillTool,
  type SkillToolOptions,
  type UseSkillToolOptions,
} from './skills/skill-tools.js';
export type { Exchange, MemoryExtractor, NewMemory } from './memories.js';
export { expandQuery, type ExpandQueryOptions } from './expand-query.js';
export {
  compressQuery,
  rewriteQuery,
  translateQuery,
  type CompressQueryOptions,
  type RewriteQueryOptions,
  type TranslateQueryOptions,
} from './query-transformers.js';
export { concatenateDocuments, fuseByRank, type RankFusionOptions } from './joiners.js';
export { diversifyDocuments, type DiversifyDocumentsOptions } from './diversify-documents.js';
export { limitTokens, minimumScore, type LimitTokensOptions } from './limit-documents.js';
export { rerankDocuments, type RerankDocumentsOptions } from './rerank-documents.js';
export type { Reranker, RerankResponse } from '../stores/vectors/reranker.js';
export { withNeighbours, type NeighboursOptions } from './with-neighbours.js';
export type { DocumentStore, ListQuery, UpsertOptions } from '../stores/vectors/document-store.js';
export {
  checkFilter,
  matchesFilter,
  type Comparison,
  type Filter,
} from '../stores/vectors/filter.js';
export { parseFilter } from './parse-filter.js';
export type { VectorQuery, VectorStore } from '../stores/vectors/vector-store.js';
export { KeywordIndex, type TextQuery } from '../stores/texts/keyword-index.js';
export { HybridRetriever, type HybridRetrieverOptions } from './hybrid-retriever.js';
export { KeywordRetriever, type KeywordRetrieverOptions } from './keyword-retriever.js';
export type { QueryFilter } from './narrow-filter.js';
export { VectorRetriever, type VectorRetrieverOptions } from './vector-retriever.js';
export type { DocumentSplitter } from './splitters/document-splitter.js';
export { TextSplitter, type TextSplitterOptions } from './splitters/text-splitter.js';
export { ingest, Ingest } from './ingest/ingest.js';
export type { DocumentSource, IngestOptions } from './ingest/ingest-options.js';
export type { DocumentOutcome, IngestEvent } from './ingest/ingest-progress.js';
export type { IngestReport } from '../core/errors/errors.js';
export type { FileContent, ReadOptions } from './readers/reading.js';
export { readCsv, type ReadCsvOptions } from './readers/read-csv.js';
export { readDocx } from './readers/read-docx.js';
export { readHtml, type ReadHtmlOptions } from './readers/read-html.js';
export { readJson, type ReadJsonOptions } from './readers/read-json.js';
export { readMarkdown } from './readers/read-markdown.js';
export { readPdf, type ReadPdfOptions } from './readers/read-pdf.js';
export { readText } from './readers/read-text.js';
