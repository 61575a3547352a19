import {
  mcpTools,
  type McpServer,
  type McpServerSettings,
  type McpTools,
} from '../../bridges/mcp/index.js';
import { AdvisorContext, McpServerError } from '../../index.js';
import { serverName, toMcpServer } from './mcp-address.js';

/** The MCP servers of a chat. */
export class McpServers {
  readonly tools: McpTools;
  /** The texts of `--mcp`, by name. */
  private readonly texts = new Map<string, string>();

  /**
   * @param onElicitation answers questions of the servers @default they cannot ask
   * @throws {@link InvalidArgumentError} if a text is neither a program nor a URL
   */
  constructor(texts: readonly string[], onElicitation?: McpServerSettings['onElicitation']) {
    const servers: Record<string, McpServer> = {};
    for (const text of texts) {
      const name = serverName(text, Object.keys(servers));
      servers[name] = { ...toMcpServer(text), onElicitation };
      this.texts.set(name, text);
    }
    this.tools = mcpTools({ servers });
  }

  /**
   * Connects, and lists the tools; returns a line for each server. A server that cannot be reached is a failure
   * now, not at the first question.
   * @throws {@link McpServerError}
   */
  async connect(signal: AbortSignal): Promise<readonly string[]> {
    const context = { context: AdvisorContext.empty, toolContext: {}, signal };
    const tools = await this.tools.tools(context).catch((error: unknown) => {
      throw this.withHint(error);
    });
    return [...this.texts.keys()].map((name) => {
      const own = tools.filter(({ definition }) => definition.name.startsWith(`${name}_`));
      return `${own.length} tools of the MCP server ${name}`;
    });
  }

  close(): Promise<void> {
    return this.tools.close();
  }

  /** The output of a program is not shown, and neither is the reason for its end. */
  private withHint(error: unknown): unknown {
    if (!(error instanceof McpServerError) || !error.message.endsWith('Connection closed'))
      return error;
    const { message, serverName: name } = error;
    const hint = `to see why, run: ${this.texts.get(name)}`;
    return new McpServerError(`${message}; ${hint}`, name, { cause: error });
  }
}
