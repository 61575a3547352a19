import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import type { McpServer, Server } from '@modelcontextprotocol/server';
import { ChatClient, textOf, type ToolMessage, type ToolProvider } from '../../src/index.js';
import { AdvisorContext } from '../../src/core/chat/context.js';
import type { McpTools } from '../../src/bridges/mcp/index.js';
import type { Tool } from '../../src/core/tool/tool.js';
import { ScriptedChatModel } from '../../src/testing/index.js';

type Params = Readonly<Record<string, unknown>>;

/** Answers a request by its result; a promise that never settles is no answer. */
export type McpAnswers = Readonly<Record<string, (params: Params) => unknown>>;

/** A server of hand-written messages, in this process. */
export class RawMcpServer {
  /** One transport per connection, in order. */
  readonly connections: InMemoryTransport[] = [];
  /** Everything that the client has sent. */
  readonly received: (JSONRPCMessage & { readonly method?: string; readonly params?: Params })[] =
    [];

  constructor(private readonly answers: McpAnswers) {}

  readonly transport = (): InMemoryTransport => {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    mine.onmessage = (message) => void this.receive(mine, message);
    void mine.start();
    this.connections.push(mine);
    return theirs;
  };

  /** Sends a message to the client that connected last. */
  send(message: object): Promise<void> {
    return (this.connections.at(-1) as InMemoryTransport).send({
      jsonrpc: '2.0',
      ...message,
    } as JSONRPCMessage);
  }

  requests(method: string): readonly Params[] {
    const found = this.received.filter((message) => message.method === method);
    return found.map(({ params = {} }) => params);
  }

  private async receive(mine: InMemoryTransport, message: JSONRPCMessage): Promise<void> {
    this.received.push(message as (typeof this.received)[number]);
    if (!('method' in message) || !('id' in message)) return;
    const answer = this.answers[message.method] ?? DEFAULTS[message.method];
    const { id } = message;
    try {
      const result = await answer?.((message.params ?? {}) as Params);
      if (result !== undefined)
        await mine.send({ jsonrpc: '2.0', id, result } as unknown as JSONRPCMessage);
    } catch (error) {
      const { code = -32_603, message: text } = error as { code?: number; message: string };
      await mine.send({ jsonrpc: '2.0', id, error: { code, message: text } });
    }
  }
}

const DEFAULTS: McpAnswers = {
  initialize: ({ protocolVersion }) => initialized(protocolVersion),
};

export function initialized(protocolVersion: unknown): object {
  return {
    protocolVersion,
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
    serverInfo: { name: 'raw', version: '1' },
  };
}

/** A definition of a tool, as a server lists it. */
export function listed(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more };
}

/** A new connection to a server of the package for each transport. */
export function linked(
  serverOf: () => McpServer | Server | Promise<McpServer | Server>,
): () => InMemoryTransport {
  return () => {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    const server = serverOf();
    if (server instanceof Promise) void server.then((made) => made.connect(mine));
    else void server.connect(mine);
    return theirs;
  };
}

/** The tools that a provider offers in a new request. */
export function toolsOf(
  mcp: McpTools,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly Tool[]> {
  return mcp.tools({ context: AdvisorContext.empty, toolContext: {}, signal });
}

export const namesOf = (tools: readonly Tool[]): readonly string[] =>
  tools.map(({ definition }) => definition.name);

/** The result of a call that a model makes in a turn, as the model reads it. */
export async function resultOf(
  mcp: ToolProvider,
  name: string,
  args: Params = {},
): Promise<ToolMessage & { readonly text: string }> {
  const model = new ScriptedChatModel([{ toolCalls: [{ name, arguments: args }] }, 'Done.']);
  await ChatClient.create(model).prompt('Go.').tools(mcp).call().content();
  const message = model.prompts[1]?.messages.at(-1) as ToolMessage;
  return { ...message, text: textOf(message.content) };
}

/** The error with which a promise rejects. */
export function failureOf(promise: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  return promise.then(
    () => {
      throw new Error('expected a rejection');
    },
    (error: Error) => error,
  );
}
