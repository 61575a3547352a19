import type {
  CallToolRequestOptions,
  Client,
  JsonSchemaValidator,
  jsonSchemaValidator,
} from '@modelcontextprotocol/client';
import { hasCode } from '../errors/advisor-chain-error.js';
import { cancellationOf, untilCancelled, type Cancellation } from '../internal/cancellation.js';
import { hasMoreValues, parseJson } from '../internal/json.js';
import { isPlainObject, type JsonObject } from '../internal/options.js';
import { SCOPE } from '../observability/names.js';
import type { ToolContext } from '../tool/tool.js';
import { AskingCalls } from './asking-calls.js';
import type {
  McpProblem,
  McpRequestContext,
  McpServerSettings,
  ReadyClient,
} from './mcp-options.js';
import { loadClient, messageTooLarge, toTransport, type McpAddress } from './transport.js';

/** The longest delay of a timer: time limits are those of the caller. */
const NO_TIMEOUT = 2 ** 31 - 1;
const DEFAULT_MAX_BYTES = 4_194_304;
/** Copying and checking more values would block the process. */
const MAX_VALUES = 250_000;
/** Maximum number of questions of a server that wait for an answer. */
const MAX_QUESTIONS = 20;

/** A request of the protocol. */
export interface McpRequest {
  readonly method: string;
  readonly params?: JsonObject;
  /** The definition of the tool that is called, as the server wrote it. */
  readonly tool?: JsonObject;
  readonly onProgress?: (progress: unknown) => void;
  /** Asks the user, for questions of the server during the call. */
  readonly ask?: ToolContext['ask'];
}

/** A client of the package, or one of the application, which may be older. */
export type AnyClient = ReadyClient & Partial<Client>;

type Question = NonNullable<McpProblem['question']>;

/** Receives what happens in a session. */
export interface SessionEvents {
  /** The list of tools may have changed. */
  readonly onToolsChanged: () => void;
  /** A function of the application has not answered the server. */
  readonly onUnanswered: (question: Question, error: unknown) => void;
  /** The session has ended; the promise resolves when its program has, too. */
  readonly onClosing: (closing: Promise<void>) => void;
}

/** A connection from its handshake to its end. */
export class Session {
  private readonly maxBytes: number;
  /** Number of requests without an answer. */
  private waiting = 0;
  private isRetired = false;

  /** @param ended cancelled, with the reason, when the connection has ended */
  constructor(
    readonly client: AnyClient,
    readonly ended: Cancellation,
    { maxMessageBytes = DEFAULT_MAX_BYTES }: McpServerSettings,
    private readonly calls?: AskingCalls,
  ) {
    this.maxBytes = maxMessageBytes;
  }

  /**
   * Connects to a server.
   * @param ended ends the attempt and the session
   */
  static async open(
    server: McpServerSettings & McpAddress,
    name: string,
    ended: Cancellation,
    events: SessionEvents,
  ): Promise<Session> {
    const calls = server.onElicitation === 'ask' ? new AskingCalls(name) : undefined;
    const client = await newClient(server, name, ended, events, calls);
    const session = new Session(client, ended, server, calls);
    ended.onCancel(() => events.onClosing(client.close().catch(() => undefined)));
    client.onerror = ({ message }) => {
      if (/exceeded maximum size/.test(message)) ended.cancel(messageTooLarge(session.maxBytes));
    };
    const onExceeded = (error: Error): void => ended.cancel(error);
    const transport = await toTransport(server, { max: session.maxBytes, onExceeded });
    try {
      await untilEnded(
        client.connect(transport, { timeout: NO_TIMEOUT, signal: ended.signal }),
        ended,
      );
      // before, the package closes the connection and then throws the reason
      client.onclose = () => ended.cancel(new Error('the connection has ended'));
      if (!client.transport) client.onclose();
      return session;
    } catch (error) {
      ended.cancel(error);
      // also where the package has not taken it over yet
      transport.close().catch(() => undefined);
      throw error;
    }
  }

  /** Ends the session when no request waits for an answer any more. */
  retire(): void {
    this.isRetired = true;
    if (this.waiting === 0) this.ended.cancel(new Error('the session was replaced'));
  }

  /** Sends a request; rejects at once when the session ends, or the signal aborts. */
  send(request: McpRequest, signal: AbortSignal): Promise<JsonObject> {
    const { calls } = this;
    const send = (): Promise<JsonObject> => this.sendNow(request, signal);
    return calls && request.ask ? calls.run(request.ask, signal, send) : send();
  }

  private async sendNow(request: McpRequest, signal: AbortSignal): Promise<JsonObject> {
    const { method, params = {}, tool, onProgress } = request;
    const { client, ended } = this;
    const onprogress = onProgress && { onprogress: onProgress };
    const options = { signal, timeout: NO_TIMEOUT, ...onprogress };
    // only `callTool` writes the headers that the newer revision requires
    const sent =
      tool && client.getProtocolEra?.() === 'modern'
        ? client.callTool?.(
            params as Parameters<Client['callTool']>[0],
            { ...options, toolDefinition: tool } as unknown as CallToolRequestOptions,
          )
        : client.request({ method, params } as never, ANY_RESULT as never, options as never);
    const answer = untilEnded(Promise.resolve<unknown>(sent), ended);
    this.waiting++;
    try {
      return this.checked(await untilCancelled(answer, cancellationOf(signal)));
    } finally {
      this.waiting--;
      if (this.isRetired) this.retire();
    }
  }

  /** A copy within the limits, without keys that could change a prototype. */
  private checked(result: unknown): JsonObject {
    const text = JSON.stringify(result) ?? 'null';
    if (text.length > this.maxBytes) throw messageTooLarge(this.maxBytes);
    if (hasMoreValues(text, MAX_VALUES))
      throw new Error(`the answer has more than ${MAX_VALUES} JSON values`);
    const copy = parseJson(text);
    if (isPlainObject(copy)) return copy;
    throw new Error('the answer is not an object');
  }
}

/** Accepts every result, for both generations of the package: each tool is checked on its own. */
const ANY_RESULT = {
  '~standard': {
    version: 1,
    vendor: 'advisor-chain',
    validate: (value: unknown) => ({ value }),
  },
  safeParse: (data: unknown) => ({ success: true, data }),
} as const;

/** The package would compile the schemas of a server to code; results are checked by the tools. */
const NO_CHECK: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

async function newClient(
  { onElicitation, onSampling, protocol }: McpServerSettings,
  server: string,
  { signal }: Cancellation,
  { onToolsChanged, onUnanswered }: SessionEvents,
  calls: AskingCalls | undefined,
): Promise<Client> {
  const { Client } = await loadClient();
  const client = new Client(
    { ...SCOPE },
    {
      capabilities: {
        ...(onElicitation && { elicitation: calls ? { form: {} } : { form: {}, url: {} } }),
        ...(onSampling && { sampling: {} }),
      },
      jsonSchemaValidator: NO_CHECK,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
      ...(protocol && { versionNegotiation: { mode: protocol } }),
    },
  );
  let open = 0;
  const ask = async <T>(
    question: Question,
    request: AbortSignal,
    answer: (context: McpRequestContext) => T | Promise<T>,
  ): Promise<T> => {
    if (open >= MAX_QUESTIONS) throw new Error('Too many questions at once.');
    open++;
    try {
      return await answer({ server, signal: AbortSignal.any([request, signal]) });
    } catch (error) {
      if (!request.aborted && !hasCode(error, 'tool_question')) onUnanswered(question, error);
      throw new Error('The question was not answered.'); // another message may have secrets
    } finally {
      open--;
    }
  };
  if (onElicitation)
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
      ask('onElicitation', mcpReq.signal, (context) =>
        onElicitation === 'ask'
          ? (calls as AskingCalls).elicit(params)
          : onElicitation(params, context),
      ),
    );
  if (onSampling)
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
      ask('onSampling', mcpReq.signal, (context) => onSampling(params, context)),
    );
  return client;
}

/** Awaits a promise until the session has ended; then rejects with the reason of its end. */
function untilEnded<T>(promise: Promise<T>, ended: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = ended.onCancel(reject);
    promise.then(resolve, reject).finally(release);
  });
}
