import type { Client } from '@modelcontextprotocol/client';
import type { Message, UserMessage } from '../../core/chat/message.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { notify } from '../../core/internal/notify.js';
import { reasonOf } from '../../core/errors/describe.js';
import { nameAsRead } from '../../core/tool/hidden-text.js';
import type { ToolProvider, ToolProviderRequest } from '../../core/tool/tool-provider.js';
import type { Tool } from '../../core/tool/tool.js';
import { promptMessages, resourceMessage } from './content.js';
import { checkMcpOptions, type McpProblem, type McpToolsOptions } from './mcp-options.js';
import { ServerTools } from './server-tools.js';
import { httpTransport } from './transport.js';

const MAX_LOGIN_BYTES = 1_000_000;

/** The end of a request that the application makes. */
interface WithSignal {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a provider of the tools of MCP servers. It connects when a request first needs them; close
 * it when it is not needed any more.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function mcpTools(options: McpToolsOptions): McpTools {
  return new McpTools(options);
}

/** The tools, resources and prompts of MCP servers. May be shared by concurrent requests. */
export class McpTools implements ToolProvider {
  readonly name: string;
  readonly timeout: number;
  private readonly sources: ReadonlyMap<string, ServerTools>;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: McpToolsOptions) {
    checkMcpOptions(options);
    const { servers, name = 'mcp', timeout = 30_000, onProblem = warn } = options;
    this.name = name;
    this.timeout = timeout;
    const report = (problem: McpProblem): void => notify(() => onProblem(problem));
    this.sources = new Map(
      Object.entries(servers).map(([server, settings]) => [
        server,
        new ServerTools(server, settings, report),
      ]),
    );
  }

  /** The tools of all servers, in the order of the servers; the first of names that read alike. */
  async tools({ signal }: ToolProviderRequest): Promise<readonly Tool[]> {
    const sources = [...this.sources.values()];
    const lists = await Promise.all(sources.map((source) => source.tools(signal)));
    const owners = new Map<string, ServerTools>();
    return lists.flatMap((tools, at) => {
      const source = sources[at] as ServerTools;
      return tools.filter((tool) => {
        const key = nameAsRead(tool.definition.name);
        const owner = owners.get(key) ?? source;
        owners.set(key, owner);
        if (owner !== source) source.reportTaken(tool, owner);
        return owner === source;
      });
    });
  }

  /**
   * Reads a resource as a message of the user.
   * @throws {@link McpServerError}, {@link LimitExceededError}, {@link CancelledError}
   */
  async resource(server: string, uri: string, { signal }: WithSignal = {}): Promise<UserMessage> {
    const request = { method: 'resources/read', params: { uri } };
    return resourceMessage(await this.source(server).request(request, signal));
  }

  /**
   * Reads a prompt as messages of the user and the assistant.
   * @throws {@link McpServerError}, {@link LimitExceededError}, {@link CancelledError}
   */
  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    { signal }: WithSignal = {},
  ): Promise<readonly Message[]> {
    const request = { method: 'prompts/get', params: { name, arguments: args } };
    return promptMessages(await this.source(server).request(request, signal));
  }

  /** The connected client of a server, for everything else: lists, completion, subscriptions. */
  async client(server: string, { signal }: WithSignal = {}): Promise<Client> {
    const { connection } = this.source(server);
    const connect = (limited: AbortSignal) => connection.client(limited);
    return (await connection.inTime('connecting', connect, signal)) as Client;
  }

  /**
   * Ends the login of a user: pass the parameters of the address to which the browser was sent.
   * @throws {@link InvalidArgumentError} if the server has no URL, and errors of the package
   */
  async finishAuth(server: string, params: URLSearchParams): Promise<void> {
    const { connection } = this.source(server);
    const address = connection.server;
    if (!('url' in address))
      throw new InvalidArgumentError(`finishAuth: the server "${server}" has no url to log in to`);
    const login = async (): Promise<void> => {
      const limit = { max: MAX_LOGIN_BYTES, onExceeded: () => undefined };
      const transport = await httpTransport(address, limit);
      await transport.finishAuth(params);
    };
    await connection.inTime('logging in', login);
    connection.forgetFailure();
  }

  /** Ends all connections and the programs that were started. Requests that still run fail. */
  async close(): Promise<void> {
    await Promise.all([...this.sources.values()].map(({ connection }) => connection.close()));
  }

  /** Ends all connections: `await using mcp = mcpTools({ … })`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private source(server: string): ServerTools {
    const source = this.sources.get(server);
    if (source) return source;
    const names = [...this.sources.keys()].join(', ');
    throw new InvalidArgumentError(`${this.name}: there is no server "${server}", but ${names}`);
  }
}

function warn({ server, tool, question, error }: McpProblem): void {
  const left = tool === undefined ? 'its tools are left out' : `its tool "${tool}" is left out`;
  const problem = question === undefined ? left : `${question} failed`;
  console.warn(`advisor-chain: MCP server "${server}": ${problem}: ${reasonOf(error)}`);
}
