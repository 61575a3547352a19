import type { CallToolRequestOptions, Client } from '@modelcontextprotocol/client';
import {
  cancellationOf,
  untilCancelled,
  type Cancellation,
} from '../../core/internal/cancellation.js';
import { hasMoreValues, parseJson } from '../../core/internal/json.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import type { ToolContext, ToolEffect } from '../../core/tool/tool.js';
import { inTime } from '../../core/internal/in-time.js';
import type { McpServerSettings, ReadyClient } from './mcp-options.js';
import { newClient, type ClientSetting } from './new-client.js';
import { messageTooLarge, toTransport, type McpAddress } from './transport.js';

/** The longest delay of a timer: the caller sets the time limits. */
const NO_TIMEOUT = 2 ** 31 - 1;
const DEFAULT_MAX_BYTES = 4_194_304;
/** Copying and checking more values would block the process. */
const MAX_VALUES = 250_000;
/** Milliseconds that a server has to end its session. */
const CLOSE_TIMEOUT = 6_000;

/** A request of the protocol. */
export interface McpRequest {
  readonly method: string;
  readonly params?: JsonObject;
  /** The definition of the tool that is called, as the server wrote it. */
  readonly tool?: JsonObject;
  /** Effect of the call of a tool; undefined for other requests, which change nothing. */
  readonly effect?: ToolEffect;
  readonly onProgress?: (progress: unknown) => void;
  /** Asks the user, for questions of the server during the call. */
  readonly ask?: ToolContext['ask'];
}

/** A client of the package, or one of the application, which may be older. */
export type AnyClient = ReadyClient & Partial<Client>;

/** Setting of a session, beside the settings of its server. */
export interface SessionSetting extends ClientSetting {
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
  ) {
    this.maxBytes = maxMessageBytes;
  }

  /** Connects to a server; `ended` of the setting ends the attempt and the session. */
  static async open(
    server: McpServerSettings & McpAddress,
    setting: SessionSetting,
  ): Promise<Session> {
    const { ended, onClosing } = setting;
    const client = await newClient(server, setting);
    const session = new Session(client, ended, server);
    ended.onCancel(() => onClosing(close(client)));
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

  /** True if the server has named the session, and so can forget it. */
  get isNamed(): boolean {
    const { sessionId } = (this.client.transport ?? {}) as Partial<HttpSession>;
    return sessionId !== undefined;
  }

  /** Sends a request; rejects at once when the session ends, or the signal aborts. */
  async send(request: McpRequest, signal: AbortSignal): Promise<JsonObject> {
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
    if (text.length > this.maxBytes) throw messageTooLarge(this.maxBytes, text.length);
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

/** The part of a transport over HTTP that knows the session of the server. */
interface HttpSession {
  readonly sessionId: string | undefined;
  terminateSession(): Promise<void>;
}

/** Ends the session of the server, if it has one, and the connection. */
async function close(client: Client): Promise<void> {
  const { terminateSession } = (client.transport ?? {}) as Partial<HttpSession>;
  if (terminateSession) {
    const ended = (): Promise<void> => terminateSession.call(client.transport);
    await inTime(ended, CLOSE_TIMEOUT, new Error()).catch(() => undefined);
  }
  await client.close().catch(() => undefined);
}

/** Awaits a promise until the session has ended; then rejects with the reason of its end. */
function untilEnded<T>(promise: Promise<T>, ended: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = ended.onCancel(reject);
    promise.then(resolve, reject).finally(release);
  });
}
