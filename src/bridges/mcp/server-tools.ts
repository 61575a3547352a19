import { ToolDefinitionError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/internal/options.js';
import type { Tool } from '../../core/tool/tool.js';
import { McpConnection } from './connection.js';
import { listTools } from './list-tools.js';
import type { McpProblem, McpServer } from './mcp-options.js';
import type { McpRequest } from './session.js';

/** The tools of one server: listed again when they may have changed. */
export class ServerTools {
  readonly connection: McpConnection;
  private listed: { readonly tools: readonly Tool[]; readonly until: number } | undefined;
  /** Number of changes that the server has reported. */
  private changes = 0;
  private readonly taken = new WeakSet<Tool>();

  constructor(
    private readonly name: string,
    private readonly server: McpServer,
    private readonly report: (problem: McpProblem) => void,
  ) {
    this.connection = new McpConnection(name, server, {
      onToolsChanged: () => {
        this.changes++;
        this.listed = undefined;
      },
      onUnanswered: (question, error) => report({ server: name, question, error }),
    });
  }

  /** @throws the error of a failure to list them, unless the server may be left out */
  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    const { name, server } = this;
    if (this.listed && performance.now() < this.listed.until) return this.listed.tools;
    try {
      return await this.connection.inTime(
        'listing its tools',
        (limited) => this.list(limited),
        signal,
      );
    } catch (error) {
      if (signal.aborted || server.onFailure !== 'omit') throw error;
      this.report({ server: name, error });
      return [];
    }
  }

  /** Sends a request within the time limit of the server. */
  request(request: McpRequest, signal: AbortSignal | undefined): Promise<JsonObject> {
    const send = (limited: AbortSignal) => this.connection.request(request, limited);
    return this.connection.inTime(request.method, send, signal);
  }

  /** Reports, once, a tool whose name looks like the name of another server's tool. */
  reportTaken(tool: Tool, owner: ServerTools): void {
    if (this.taken.has(tool)) return;
    this.taken.add(tool);
    const { name } = tool.definition;
    const message = `the tool "${name}" has the name of a tool of the server "${owner.name}"; set another prefix`;
    this.report({ server: this.name, tool: name, error: new ToolDefinitionError(message, name) });
  }

  private async list(signal: AbortSignal): Promise<readonly Tool[]> {
    const { name, server, changes } = this;
    const tools = await listTools(this.connection, signal, (tool, error) =>
      this.report({ server: name, tool, error }),
    );
    // a client of the application does not report changes here
    const maxAge = 'client' in server ? 0 : (server.maxListAge ?? 300_000);
    if (changes === this.changes) this.listed = { tools, until: performance.now() + maxAge };
    return tools;
  }
}
