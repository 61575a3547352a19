import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  StreamableHTTPClientTransportOptions,
  Transport,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { InvalidArgumentError } from '../errors.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  numberBetween,
  oneOf,
  orFunction,
  PLAIN_OBJECT,
  rule,
  TEXT,
  TIMEOUT,
  withMethods,
} from '../internal/options.js';

/** A problem that left out a server or one of its tools, or left a question of it unanswered. */
export interface McpProblem {
  readonly server: string;
  /** Name that the server gave to the tool; undefined if all tools of the server are left out. */
  readonly tool?: string | undefined;
  /** The function that failed; the server does not receive its error. No tool is left out. */
  readonly question?: 'onElicitation' | 'onSampling' | undefined;
  readonly error: unknown;
}

/** The server that asks, and the end of its request. */
export interface McpRequestContext {
  readonly server: string;
  /** Aborts when the server no longer waits for an answer. */
  readonly signal: AbortSignal;
}

/** Settings of one server, wherever it runs. */
export interface McpServerSettings {
  /** Text before the names of its tools; may be empty. @default the name of the server and `_` */
  readonly prefix?: string | undefined;
  /**
   * Failure to connect, or to list the tools: ends the turn (`fail`), or leaves out the tools of the
   * server and reports a problem (`omit`).
   * @default 'fail'
   */
  readonly onFailure?: 'fail' | 'omit' | undefined;
  /**
   * Time limit in milliseconds of connecting and listing the tools, and of reading a resource or a
   * prompt, or `Infinity`. @default 15_000
   */
  readonly timeout?: number | undefined;
  /**
   * Time limit in milliseconds of a tool call, in which the application also answers the server's
   * questions, or `Infinity`. @default the manager's `toolTimeout`
   */
  readonly toolTimeout?: number | undefined;
  /**
   * Time in milliseconds, >= 0, for which a list of tools is used again; ends at once when the
   * server reports a change. @default 300_000
   */
  readonly maxListAge?: number | undefined;
  /**
   * Time in milliseconds, >= 0, after a failure to connect in which requests fail at once with its
   * error. @default 1_000
   */
  readonly reconnectDelay?: number | undefined;
  /** Maximum number of tools, and of pages of their list, >= 1. @default 500 */
  readonly maxTools?: number | undefined;
  /** Maximum number of characters of the definition of a tool, >= 1. @default 100_000 */
  readonly maxDefinitionLength?: number | undefined;
  /** Maximum number of bytes of a message, such as a result, >= 1. @default 4_194_304 */
  readonly maxMessageBytes?: number | undefined;
  /**
   * Uses the annotations of its tools as their `effect`. The server makes them up: with false, all
   * its tools have the effect `write`. @default true
   */
  readonly trustAnnotations?: boolean | undefined;
  /** Revision of the protocol: see `versionNegotiation.mode` of the package. @default 'legacy' */
  readonly protocol?: VersionNegotiationMode | undefined;
  /**
   * Asks the user on behalf of the server: a function, or `ask` for the `ask` of the tool call in which
   * the server asks, so that an `ApprovalAdvisor` brings the question to a person; then the calls of
   * the server run one after another.
   * @default the server cannot ask
   */
  readonly onElicitation?:
    | 'ask'
    | ((
        request: ElicitRequestParams,
        context: McpRequestContext,
      ) => ElicitResult | Promise<ElicitResult>)
    | undefined;
  /** Calls a model on behalf of the server. @default the server cannot call one */
  readonly onSampling?:
    | ((
        request: CreateMessageRequestParams,
        context: McpRequestContext,
      ) => CreateMessageResult | Promise<CreateMessageResult>)
    | undefined;
}

/** A program that is started and that talks over its standard input and output; needs Node.js. */
export interface McpProgram {
  readonly command: string;
  /** @default none */
  readonly args?: readonly string[] | undefined;
  /** Variables of its environment, beside the few that the package passes on. @default none */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** @default the working directory of this process */
  readonly cwd?: string | undefined;
  /** Its standard error. @default 'inherit' */
  readonly stderr?: 'inherit' | 'ignore' | undefined;
}

/** A server behind streamable HTTP; `authProvider` runs the OAuth flow of the package. */
export interface McpEndpoint extends Pick<
  StreamableHTTPClientTransportOptions,
  'authProvider' | 'requestInit' | 'fetch'
> {
  readonly url: string | URL;
}

/** A transport of the application, made for each connection. */
export interface McpTransport {
  readonly transport: () => Transport;
}

/**
 * A connected client of the application, of this package or of `@modelcontextprotocol/sdk`. It is
 * never closed here, its tools are listed for every turn, and it answers the server's questions itself.
 */
export interface McpClient {
  readonly client: ReadyClient;
}

/** The part of a client that is used. */
export interface ReadyClient {
  request(request: never, schema: never, options?: never): Promise<unknown>;
}

/** A server: its address and its settings. */
export type McpServer = McpServerSettings & (McpProgram | McpEndpoint | McpTransport | McpClient);

/** Options of {@link mcpTools}. */
export interface McpToolsOptions {
  /** Servers by name; the names begin those of their tools. */
  readonly servers: Readonly<Record<string, McpServer>>;
  /** Name of the provider in errors. @default 'mcp' */
  readonly name?: string | undefined;
  /** Time limit in milliseconds of all servers together, or `Infinity`. @default 30_000 */
  readonly timeout?: number | undefined;
  /** Receives what was left out, once per list of tools, and failed answers. @default prints a warning */
  readonly onProblem?: ((problem: McpProblem) => void) | undefined;
}

const MILLISECONDS = numberBetween(0, Infinity);
const RULES = {
  prefix: rule(
    'a string of at most 32 letters, digits, "_" or "-"',
    (value) => typeof value === 'string' && /^[a-zA-Z0-9_-]{0,32}$/.test(value),
  ),
  onFailure: oneOf('fail', 'omit'),
  timeout: TIMEOUT,
  toolTimeout: TIMEOUT,
  maxListAge: MILLISECONDS,
  reconnectDelay: MILLISECONDS,
  maxTools: integer(1),
  maxDefinitionLength: integer(1),
  maxMessageBytes: integer(1),
  trustAnnotations: BOOLEAN,
  onElicitation: orFunction(oneOf('ask')),
  onSampling: FUNCTION,
};
const ADDRESSES = {
  command: TEXT,
  url: rule('a URL', (value) => value instanceof URL || URL.canParse(String(value))),
  transport: FUNCTION,
  client: withMethods('a connected client of MCP', 'request'),
};

/** @throws {@link InvalidArgumentError} if an option is invalid, or there is no server */
export function checkMcpOptions(options: McpToolsOptions): void {
  const where = 'mcpTools';
  checkOption(where, 'options', options, PLAIN_OBJECT);
  checkOption(where, 'servers', options.servers, PLAIN_OBJECT);
  checkOptions(where, options, { name: TEXT, timeout: TIMEOUT, onProblem: FUNCTION });
  const servers = Object.entries(options.servers);
  if (servers.length === 0)
    throw new InvalidArgumentError(`${where}: servers must have at least one server`);
  for (const [name, server] of servers) checkServer(`${where}: server "${name}"`, server);
}

function checkServer(owner: string, server: McpServer): void {
  checkOption(owner, 'the server', server, PLAIN_OBJECT);
  checkOptions<McpServerSettings>(owner, server, RULES);
  const given = Object.keys(ADDRESSES).filter((name) => name in server);
  if (given.length !== 1)
    throw new InvalidArgumentError(
      `${owner} must have one of ${Object.keys(ADDRESSES).join(', ')}, not ${given.join(' and ') || 'none'}`,
    );
  checkOptions<Readonly<Record<string, unknown>>>(owner, { ...server }, ADDRESSES);
}
