import type * as ServerPackage from '@modelcontextprotocol/server';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { ChatClient, PromptSpec } from '../client/chat-client.js';
import { InvalidArgumentError } from '../errors.js';
import { checkOptions, FUNCTION, TEXT, withMethods } from '../internal/options.js';
import type { ToolManager } from '../tool-execution/tool-manager.js';
import type { ToolSource } from '../tool/transform-tools.js';
import { ServedTools } from './served-tools.js';

/** Options of {@link serveMcp}. */
export interface ServeMcpOptions {
  /** Name of the server, and of the tool of a client. @default 'advisor-chain', 'chat' */
  readonly name?: string | undefined;
  /** Version of the server. @default '1.0.0' */
  readonly version?: string | undefined;
  /** Instructions for the models of others; the description of the tool of a client. @default none */
  readonly description?: string | undefined;
  /** Values for the tools, for example of `request.http?.authInfo`. @default none */
  readonly toolContext?: ((request: ServerContext) => ToolContextValues) | undefined;
  /** Changes the turn of a client, for example its conversation. @default unchanged */
  readonly turn?: ((turn: PromptSpec, request: ServerContext) => PromptSpec) | undefined;
  /** Runs the tools. @default a `ToolCallingManager` with its defaults */
  readonly manager?: ToolManager | undefined;
}

const RULES = {
  name: TEXT,
  version: TEXT,
  description: TEXT,
  toolContext: FUNCTION,
  turn: FUNCTION,
  manager: withMethods('a ToolManager', 'executeToolCalls'),
};

/**
 * Makes an MCP server of tools, or of a client as one tool. Connect it to a transport of
 * `@modelcontextprotocol/server`, or pass `() => serveMcp(…)` to its `createMcpHandler` or
 * `serveStdio`. Its `onerror` receives errors of providers and managers, which clients do not see.
 * @throws {@link InvalidArgumentError} if an option or a tool is invalid, or the package is not
 * installed
 */
export async function serveMcp(
  source: ToolSource | ChatClient,
  options: ServeMcpOptions = {},
): Promise<Server> {
  checkOptions('serveMcp', options, RULES);
  const { name = 'advisor-chain', version = '1.0.0', description: instructions } = options;
  const { Server } = await loadServer();
  const served = new ServedTools(source, options);
  const server = new Server(
    { name, version },
    { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler('tools/list', (_request, context) =>
    withoutDetails(server, async () => ({ tools: await served.list(context) })),
  );
  server.setRequestHandler('tools/call', ({ params }, context) =>
    withoutDetails(server, () => served.call(params.name, params.arguments ?? {}, context)),
  );
  return server;
}

/** Reports an error to the application: its message may have secrets, and the package would send it. */
async function withoutDetails<T>(server: Server, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    server.onerror?.(error as Error);
    throw new Error('The tools are not available.');
  }
}

async function loadServer(): Promise<typeof ServerPackage> {
  return import('@modelcontextprotocol/server').catch((cause: unknown) => {
    const remedy = 'npm install @modelcontextprotocol/server@^2';
    throw new InvalidArgumentError(
      `serveMcp needs the package @modelcontextprotocol/server: ${remedy}`,
      { cause },
    );
  });
}
