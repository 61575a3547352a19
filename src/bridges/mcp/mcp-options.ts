import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  StreamableHTTPClientTransportOptions,
  Transport,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  BOOLEAN,
  CHECKED_APART,
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  numberBetween,
  oneOf,
  orFunction,
  PLAIN_OBJECT,
  required,
  rule,
  TEXT,
  TIMEOUT,
  withMethods,
  type OptionRules,
} from '../../core/internal/options.js';

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
   * Time limit in milliseconds of a tool call, in which a function of the application also answers the
   * server's questions, or `Infinity`. @default the manager's `toolTimeout`
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
   * Takes the effects of its tools from their annotations, and its results as text of one's own. The
   * server makes both up: without trust all its tools are `write`, and their results `untrusted`.
   * @default false
   */
  readonly trusted?: boolean | undefined;
  /** Revision of the protocol: see `versionNegotiation.mode` of the package. @default 'legacy' */
  readonly protocol?: VersionNegotiationMode | undefined;
  /**
   * Asks the user on behalf of the server: a function, or `ask` for the `ask` of the tool call in which
   * the server asks, so that an `ApprovalAdvisor` brings the question to a person; then each call has
   * a connection of its own, for stdio a program.
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
  /** Servers by name; the name of a server begins the names of its tools. */
  readonly servers: Readonly<Record<string, McpServer>>;
  /** Name of the provider in errors. @default 'mcp' */
  readonly name?: string | undefined;
  /** Time limit in milliseconds of all servers together, or `Infinity`. @default 30_000 */
  readonly timeout?: number | undefined;
  /** Receives what was left out, once per list of tools, and failed answers. @default prints a warning */
  readonly onProblem?: ((problem: McpProblem) => void) | undefined;
}

const MILLISECONDS = numberBetween(0, Infinity);
const RULES: OptionRules<McpServerSettings> = {
  protocol: CHECKED_APART,
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
  trusted: BOOLEAN,
  onElicitation: orFunction(oneOf('ask')),
  onSampling: FUNCTION,
};
const OPTION_RULES = {
  servers: required(PLAIN_OBJECT),
  name: TEXT,
  timeout: TIMEOUT,
  onProblem: FUNCTION,
};
const ADDRESSES = {
  command: rule('a program without its arguments, which go into args', TEXT.accepts),
  url: rule(
    'a URL, such as http://127.0.0.1:3000/mcp',
    (value) => value instanceof URL || URL.canParse(String(value)),
  ),
  transport: FUNCTION,
  client: withMethods('a connected client of MCP', 'request'),
};

/** Further fields of each kind of server, checked by its package. */
const DETAILS: Readonly<Record<keyof typeof ADDRESSES, object>> = {
  command: { args: CHECKED_APART, env: CHECKED_APART, cwd: CHECKED_APART, stderr: CHECKED_APART },
  url: { authProvider: CHECKED_APART, requestInit: CHECKED_APART, fetch: CHECKED_APART },
  transport: {},
  client: {},
};

/** @throws {@link InvalidArgumentError} if an option is invalid, or there is no server */
export function checkMcpOptions(options: McpToolsOptions): void {
  const where = 'mcpTools';
  checkOption(where, 'options', options, PLAIN_OBJECT);
  checkOptions(where, options, OPTION_RULES);
  const servers = Object.entries(options.servers);
  if (servers.length === 0)
    throw new InvalidArgumentError(`${where}: servers must have at least one server`);
  for (const [name, server] of servers) checkServer(`${where}: server "${name}"`, server);
}

function checkServer(owner: string, server: McpServer): void {
  checkOption(owner, 'the server', server, PLAIN_OBJECT);
  const kinds = Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[];
  const given = kinds.filter((name) => name in server);
  const [kind] = given;
  if (kind === undefined || given.length > 1)
    throw new InvalidArgumentError(
      `${owner} must have one of ${kinds.join(', ')}, not ${given.join(' and ') || 'none'}`,
    );
  const rules = { ...RULES, [kind]: ADDRESSES[kind], ...DETAILS[kind] };
  checkOptions<object>(owner, server, rules);
}
