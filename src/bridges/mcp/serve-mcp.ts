import type * as ServerPackage from '@modelcontextprotocol/server';
import type {
  CallToolResult,
  Server,
  ServerContext,
  Tool as McpTool,
} from '@modelcontextprotocol/server';
import type { ChatEvent, ToolResult } from '../../core/chat/chat-event.js';
import type { ToolContextValues } from '../../core/chat/chat-options.js';
import { ChatResponse } from '../../core/chat/chat-response.js';
import { AdvisorContext } from '../../core/chat/context.js';
import { Prompt } from '../../core/chat/prompt.js';
import { agentTool } from '../../core/client/agent-tool.js';
import type { ChatClient, PromptSpec } from '../../core/client/chat-client.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { cancellationOf } from '../../core/internal/cancellation.js';
import {
  checkOptions,
  FUNCTION,
  hasMethods,
  isPlainObject,
  TEXT,
  withMethods,
  type JsonObject,
} from '../../core/internal/options.js';
import { truncate } from '../../core/internal/text.js';
import { ToolCallingManager } from '../../core/tool-execution/tool-calling-manager.js';
import type { ToolManager } from '../../core/tool-execution/tool-manager.js';
import { flattenTools, toolsByName } from '../../core/tool/check-tool.js';
import { jsonOf, resultText } from '../../core/tool/result-text.js';
import { isToolProvider, provideTools, type ToolProvider } from '../../core/tool/tool-provider.js';
import type { Tool, ToolEffect } from '../../core/tool/tool.js';
import type { ToolSource } from '../../core/tool/transform-tools.js';
import { toMcpContent } from './content.js';

const MAX_PROGRESS_LENGTH = 1_000;

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
  try {
    // bundlers treat an import in a try block as optional
    return await import('@modelcontextprotocol/server');
  } catch (cause) {
    const remedy = 'npm install @modelcontextprotocol/server@^2';
    throw new InvalidArgumentError(
      `serveMcp needs the package @modelcontextprotocol/server: ${remedy}`,
      { cause },
    );
  }
}

/** Runs the tools of an application for the clients of a server. */
class ServedTools {
  private readonly manager: ToolManager;
  private readonly own: readonly Tool[];
  private readonly provider: ToolProvider | undefined;
  private readonly chat: ChatClient | undefined;

  /** @throws {@link InvalidArgumentError} if a tool is invalid, or two have one name */
  constructor(
    source: ToolSource | ChatClient,
    private readonly options: ServeMcpOptions,
  ) {
    this.manager = options.manager ?? new ToolCallingManager();
    this.provider = isToolProvider(source) ? source : undefined;
    this.chat = isChatClient(source) ? source : undefined;
    this.own = this.provider || this.chat ? [] : flattenTools([source], 'serveMcp');
    toolsByName(this.own); // rejects repeated names
    if (this.chat) chatTool(this.chat, options);
  }

  async list(request: ServerContext): Promise<McpTool[]> {
    return (await this.tools(request)).map(describeTool);
  }

  async call(name: string, args: JsonObject, request: ServerContext): Promise<CallToolResult> {
    const tools = await this.tools(request);
    const call = { id: String(request.mcpReq.id), name, arguments: JSON.stringify(args) };
    const prompt = new Prompt([], { tools });
    const response = new ChatResponse({
      generations: [{ message: { role: 'assistant', content: null, toolCalls: [call] } }],
    });
    const { results } = await this.manager.executeToolCalls(prompt, response, {
      toolContext: this.toolContext(request),
      signal: request.mcpReq.signal,
      onEvent: progressReporter(request, this.chat !== undefined),
    });
    const tool = toolsByName(tools).get(name);
    return toCallResult(results[0]?.result as ToolResult, tool);
  }

  private async tools(request: ServerContext): Promise<readonly Tool[]> {
    const { provider, chat, options } = this;
    if (chat) return [chatTool(chat, options, request)];
    if (!provider) return this.own;
    const run = { context: AdvisorContext.empty, toolContext: this.toolContext(request) };
    const placed = [{ provider, at: 0 }];
    return provideTools([], placed, run, cancellationOf(request.mcpReq.signal));
  }

  private toolContext(request: ServerContext) {
    return this.options.toolContext?.(request) ?? {};
  }
}

function isChatClient(source: ToolSource | ChatClient): source is ChatClient {
  return hasMethods(source, ['prompt', 'mutate']);
}

/** The tool that answers a message by a turn of a client. */
function chatTool(client: ChatClient, options: ServeMcpOptions, request?: ServerContext): Tool {
  const { name = 'chat', description = 'Answers a message.', turn } = options;
  return agentTool(client, {
    name,
    description,
    turn: (prompt) => (turn && request ? turn(prompt, request) : prompt),
  });
}

function describeTool({ definition, metadata }: Tool): McpTool {
  const { name, description, inputSchema, outputSchema } = definition;
  return {
    name,
    description,
    inputSchema: inputSchema as McpTool['inputSchema'],
    ...(outputSchema?.['type'] === 'object' && {
      outputSchema: outputSchema as NonNullable<McpTool['outputSchema']>,
    }),
    ...(metadata.effect && { annotations: HINTS[metadata.effect] }),
  };
}

const HINTS = {
  read: { readOnlyHint: true },
  idempotent: { readOnlyHint: false, idempotentHint: true },
  write: { readOnlyHint: false, idempotentHint: false },
} satisfies Readonly<Record<ToolEffect, NonNullable<McpTool['annotations']>>>;

function toCallResult({ content, isError, value }: ToolResult, tool?: Tool): CallToolResult {
  const blocks = { content: toMcpContent(content), ...(isError && { isError }) };
  const isStructured = tool?.definition.outputSchema?.['type'] === 'object' && !isError;
  const json = isStructured ? jsonOf(value) : undefined;
  return isPlainObject(json) ? { ...blocks, structuredContent: { ...json } } : blocks;
}

/** Sends the progress of a tool, if the client has asked for it; of a chat, the calls of tools. */
function progressReporter({ mcpReq }: ServerContext, isChat: boolean): (event: ChatEvent) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let count = 0;
  return (event) => {
    if (progressToken === undefined || event.type !== 'tool-progress') return;
    const text = isChat ? calledTool(event.data as ChatEvent) : resultText(event.data);
    if (text === undefined) return;
    const message = truncate(text, MAX_PROGRESS_LENGTH);
    const params = { progressToken, progress: ++count, message };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

function calledTool(event: ChatEvent): string | undefined {
  return event.type === 'tool-call' ? `Calling ${event.call.name}` : undefined;
}
