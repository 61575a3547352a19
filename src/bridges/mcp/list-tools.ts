import { shortName } from '../../core/chat/tool-definition.js';
import {
  LimitExceededError,
  McpServerError,
  ToolDefinitionError,
  ToolError,
} from '../../core/errors/errors.js';
import { hasCode } from '../../core/errors/advisor-chain-error.js';
import { Cancellation, onAbort } from '../../core/internal/cancellation.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { reasonOf } from '../../core/errors/describe.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import { defineTool } from '../../core/tool/define-tool.js';
import { toolResult } from '../../core/tool/tool-result.js';
import type { Tool, ToolContext, ToolEffect } from '../../core/tool/tool.js';
import type { McpConnection } from './connection.js';
import { toContent } from './content.js';
import type { McpServerSettings } from './mcp-options.js';

/** The code with which a server refuses the arguments of a call. */
const INVALID_PARAMS = -32_602;

/** Receives a tool that is left out: its name and the reason. */
export type ToolProblem = (tool: string, error: unknown) => void;

/**
 * Lists the tools of a server; those that cannot be used are left out.
 * @throws {@link LimitExceededError} if there are too many tools or pages
 */
export async function listTools(
  connection: McpConnection,
  signal: AbortSignal,
  onProblem: ToolProblem,
): Promise<readonly Tool[]> {
  const { maxTools = 500 } = connection.server;
  const tools = new Map<string, Tool>();
  const slice = new TimeSlice();
  let cursor: string | undefined;
  for (let count = 0, page = 0; ; page++) {
    const params: JsonObject = cursor === undefined ? {} : { cursor };
    const answer = await connection.request({ method: 'tools/list', params }, signal);
    const definitions: unknown = answer['tools'];
    if (!Array.isArray(definitions))
      throw new McpServerError(`"${connection.name}" sent no list of tools`, connection.name);
    count += definitions.length;
    if (page >= maxTools || count > maxTools)
      throw tooMany(connection, maxTools, Math.max(page, count));
    for (const definition of definitions as readonly unknown[]) {
      const nextSlice = slice.next();
      if (nextSlice) await nextSlice;
      addTool(tools, definition, connection, onProblem);
    }
    cursor = nonEmptyString(answer['nextCursor']);
    if (cursor === undefined) return [...tools.values()];
  }
}

function tooMany({ name }: McpConnection, value: number, spent: number): LimitExceededError {
  const problem = `the MCP server "${name}" has more than ${value} tools, or pages of them`;
  return new LimitExceededError(problem, { limit: 'mcp-tools', value, spent, option: 'maxTools' });
}

function addTool(
  tools: Map<string, Tool>,
  definition: unknown,
  connection: McpConnection,
  onProblem: ToolProblem,
): void {
  const given: JsonObject = isPlainObject(definition) ? definition : {};
  const name = String(given['name']);
  try {
    const tool = toTool(given, connection);
    const taken = `the tool "${name}" has the name of an earlier one: ${tool.definition.name}`;
    if (tools.has(tool.definition.name)) throw new ToolDefinitionError(taken, name);
    tools.set(tool.definition.name, tool);
  } catch (error) {
    onProblem(name, error);
  }
}

/** @throws {@link ToolDefinitionError} or {@link LimitExceededError} if it cannot be used */
function toTool(given: JsonObject, connection: McpConnection): Tool {
  const { name, server } = connection;
  const { prefix = `${name}_`, toolTimeout, maxDefinitionLength = 100_000 } = server;
  const toolName = nonEmptyString(given['name']);
  if (toolName === undefined) throw new ToolDefinitionError('a tool has no name', '');
  const spent = JSON.stringify(given).length;
  if (spent > maxDefinitionLength)
    throw new LimitExceededError(
      `the definition of the tool "${toolName}" has more than ${maxDefinitionLength} characters`,
      { limit: 'mcp-definition', value: maxDefinitionLength, spent, option: 'maxDefinitionLength' },
    );
  const { inputSchema, outputSchema, title, description } = given;
  return defineTool({
    name: shortName(`${prefix}${toolName}`.replaceAll(/[^a-zA-Z0-9_-]/g, '_')),
    description: nonEmptyString(description) ?? nonEmptyString(title),
    ...(inputSchema !== undefined && { input: inputSchema as JsonObject }),
    ...(outputSchema !== undefined && { output: outputSchema as JsonObject }),
    ...(toolTimeout !== undefined && { timeout: toolTimeout }),
    effect: effectOf(given, server),
    ...(server.trusted !== true && { untrusted: true }),
    execute: (args, context) => callTool(toolName, given, args, connection, context),
  });
}

/** By the protocol, a tool without hints may have any effect, and a hint may be a lie. */
function effectOf({ annotations }: JsonObject, server: McpServerSettings): ToolEffect {
  if (server.trusted !== true || !isPlainObject(annotations)) return 'write';
  if (annotations['readOnlyHint'] === true) return 'read';
  return annotations['idempotentHint'] === true ? 'idempotent' : 'write';
}

async function callTool(
  name: string,
  definition: JsonObject,
  args: JsonObject,
  connection: McpConnection,
  { signal, progress, ask: askUser }: ToolContext,
): Promise<unknown> {
  const cancellation = new Cancellation();
  const release = onAbort(signal, () => cancellation.cancel(signal.reason));
  let tooMuch: { readonly error: unknown } | undefined;
  const onProgress = (data: unknown): void => {
    try {
      progress(data);
    } catch (error) {
      tooMuch ??= { error }; // more of it than allowed
      cancellation.cancel(error);
    }
  };
  const ask: ToolContext['ask'] = async (schema, prompt) => {
    try {
      return await askUser(schema, prompt);
    } catch (error) {
      // the tool is called again with the answer
      if (!hasCode(error, 'tool')) cancellation.cancel((tooMuch ??= { error }).error);
      throw error;
    }
  };
  try {
    const request = { method: 'tools/call', params: { name, arguments: args }, onProgress, ask };
    const effect = effectOf(definition, connection.server);
    const sent = { ...request, tool: definition, effect };
    return toResult(await connection.request(sent, cancellation.signal));
  } catch (error) {
    if (tooMuch) throw tooMuch.error;
    throw forModel(error);
  } finally {
    release();
  }
}

function toResult({ content, structuredContent, isError }: JsonObject): unknown {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const failed = isError === true;
  return toolResult({
    ...(failed && { isError: true, content: 'The tool failed.' }),
    ...(structuredContent !== undefined && { value: structuredContent }),
    // otherwise the text of the value
    ...(blocks.length > 0 && { content: toContent(blocks) }),
  });
}

/** The model can correct arguments that the server refused; it must not read other messages. */
function forModel(error: unknown): unknown {
  const { cause } = error as { readonly cause?: unknown };
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return code === INVALID_PARAMS ? new ToolError(reasonOf(cause), { cause }) : error;
}
