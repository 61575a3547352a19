export type { Interval } from './bootstrap.js';
export {
  compareSearchReports,
  type LabelledQuery,
  type QueryResult,
  type Recall,
  type SearchQuality,
} from './search-quality.js';
export {
  toolSearchReport,
  type CatalogueTool,
  type ToolSearchReport,
  type ToolSearchReportOptions,
} from './tool-search-report.js';
