/** JSON Schemas of tools: `advisor-chain/json-schema`. @module */
export { canonicalJson, parseJson, type JsonValue } from '../internal/json.js';
export {
  compatibilityReport,
  type CompatibilityReport,
  type PublishedTool,
  type ToolCompatibility,
} from './compatibility-report.js';
export { augmentSchema } from './merge-schemas.js';
export { normalizeSchema, type NormalizedSchema } from './normalize/normalize-schema.js';
export type { SchemaChange } from './normalize/schema-context.js';
export type { InferInput, InferOutput, InputSchema } from './to-json-schema.js';
export type { Validation } from './validator.js';
