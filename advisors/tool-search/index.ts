/** Parts for tool indexes of your own, and eviction strategies: `advisor-chain/tool-search`. @module */
export {
  AlwaysEviction,
  CompositeEviction,
  LruEviction,
  NeverEviction,
  TtlEviction,
  type EvictionStrategy,
} from './eviction.js';
export type {
  ToolIndexRequest,
  ToolReference,
  ToolRemovalRequest,
  ToolSearchRequest,
  ToolSearchResponse,
} from '../../src/stores/tool-indexes/tool-index.js';
