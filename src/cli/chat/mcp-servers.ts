import { mcpTools, type McpTools } from '../../bridges/mcp/index.js';
import { AdvisorContext } from '../../index.js';
import { serverName, toMcpServer } from './mcp-address.js';

/** The MCP servers of a chat. */
export class McpServers {
  readonly tools: McpTools;
  private readonly names: readonly string[];

  /** @throws {@link InvalidArgumentError} if a text is neither a program nor a URL */
  constructor(texts: readonly string[]) {
    const servers: Record<string, ReturnType<typeof toMcpServer>> = {};
    for (const text of texts) servers[serverName(text, Object.keys(servers))] = toMcpServer(text);
    this.names = Object.keys(servers);
    this.tools = mcpTools({ servers });
  }

  /**
   * Connects, and lists the tools; returns a line for each server. A server that cannot be reached is a failure
   * now, not at the first question.
   * @throws {@link McpServerError}
   */
  async connect(signal: AbortSignal): Promise<readonly string[]> {
    const tools = await this.tools.tools({
      context: AdvisorContext.empty,
      toolContext: {},
      signal,
    });
    return this.names.map((name) => {
      const own = tools.filter(({ definition }) => definition.name.startsWith(`${name}_`));
      return `${own.length} tools of the MCP server ${name}`;
    });
  }

  close(): Promise<void> {
    return this.tools.close();
  }
}
