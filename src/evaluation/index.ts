export {
  toolSearchReport,
  type CatalogueTool,
  type LabelledQuery,
  type ToolSearchReport,
  type ToolSearchReportOptions,
} from './tool-search-report.js';
