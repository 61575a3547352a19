export { mcpTools, type McpTools } from './mcp-tools.js';
export type {
  McpClient,
  McpEndpoint,
  McpProblem,
  McpProgram,
  McpRequestContext,
  McpServer,
  McpServerSettings,
  McpToolsOptions,
  McpTransport,
} from './mcp-options.js';
export { serveMcp, type ServeMcpOptions } from './serve-mcp.js';
