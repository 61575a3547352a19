import { AdvisorChainError, McpServerError } from '../../core/errors/errors.js';
import { Cancellation, cancelledError, onAbort } from '../../core/internal/cancellation.js';
import type { JsonObject } from '../../core/internal/options.js';
import { SharedWork } from '../../core/internal/shared-work.js';
import type { ToolContext } from '../../core/tool/tool.js';
import { truncate } from '../../core/internal/text.js';
import { reasonOf } from '../../core/errors/describe.js';
import { collectSecrets, redact, withoutSecrets } from '../../core/internal/redact.js';
import type { McpEndpoint, McpProgram, McpServer, McpServerSettings } from './mcp-options.js';
import { inTime } from '../../core/internal/in-time.js';
import { isRepeatable, maySessionBeLost } from './lost-session.js';
import { Session, type AnyClient, type McpRequest, type SessionSetting } from './session.js';
import type { McpAddress } from './transport.js';

/** Milliseconds that a server has to end its session, and a program to end. */
const CLOSE_TIMEOUT = 6_000;
/** Characters of a message of the server in an error. */
const MAX_REASON = 500;
const DEFAULT_TIMEOUT = 15_000;
const DEFAULT_RECONNECT_DELAY = 1_000;

/** The connection to a server: made at the first request, and again after it has ended. */
export class McpConnection {
  private connecting: SharedWork<Session> | undefined;
  private current: Session | undefined;
  private failure: { readonly error: unknown; readonly until: number } | undefined;
  private readonly closed = new Cancellation();
  /** Ends of programs, which may take seconds. */
  private readonly closing = new Set<Promise<void>>();

  constructor(
    readonly name: string,
    readonly server: McpServer,
    private readonly events: Pick<SessionSetting, 'onToolsChanged' | 'onUnanswered'>,
  ) {}

  /** The connected client of the package. */
  async client(signal: AbortSignal): Promise<AnyClient> {
    this.checkOpen();
    return (await this.session(signal)).client;
  }

  /**
   * Sends a request; again if the server has lost the session, and the request certainly did not run
   * or may run twice.
   * @throws {@link McpServerError} if the server fails, {@link LimitExceededError} if its answer is
   * too large, {@link CancelledError}
   */
  async request(request: McpRequest, signal: AbortSignal): Promise<JsonObject> {
    const { server } = this;
    this.checkOpen();
    try {
      if (request.ask && server.onElicitation === 'ask' && !('client' in server))
        return await this.sendAlone(server, request, signal);
      return await this.sendShared(request, signal);
    } catch (error) {
      throw signal.aborted ? cancelledError(signal.reason) : this.toError(error, request.method);
    }
  }

  /**
   * Runs work within the time limit of the server.
   * @throws {@link McpServerError} when the time is up, {@link CancelledError}
   */
  async inTime<T>(
    what: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { timeout = DEFAULT_TIMEOUT } = this.server;
    const message = `${this.label} did not answer within ${timeout} ms (${what})`;
    const timedOut = new McpServerError(message, this.name);
    return inTime(work, timeout, timedOut, signal);
  }

  /** Allows an attempt to connect at once, as after the user has logged in. */
  forgetFailure(): void {
    this.failure = undefined;
  }

  /** Ends the connection, all requests that wait for it, and the programs that were started. */
  async close(): Promise<void> {
    this.closed.cancel(new McpServerError(`${this.label} was closed`, this.name));
    const programs = (): Promise<unknown> => Promise.all(this.closing);
    await inTime(programs, CLOSE_TIMEOUT, new Error()).catch(() => undefined);
  }

  private checkOpen(): void {
    if (this.closed.cancelled)
      throw new McpServerError(`${this.label} was closed; call mcpTools again`, this.name);
  }

  private get label(): string {
    return `the MCP server "${this.name}"`;
  }

  private async sendShared(request: McpRequest, signal: AbortSignal): Promise<JsonObject> {
    const session = await this.session(signal);
    try {
      return await session.send(request, signal);
    } catch (error) {
      const isOwn = !('client' in this.server);
      if (signal.aborted || !isOwn || !session.isNamed || !maySessionBeLost(error)) throw error;
      this.forget(session);
      session.retire(); // its other requests may have run: they are not repeated
      if (!isRepeatable(request, error)) throw error;
      return (await this.session(signal)).send(request, signal);
    }
  }

  /** Sends a call over a connection of its own, on which a question can only be the call's. */
  private async sendAlone(
    server: McpServerSettings & McpAddress,
    request: McpRequest,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const ended = new Cancellation();
    const release = onAbort(signal, () => ended.cancel(signal.reason));
    try {
      const session = await this.open(server, ended, request.ask);
      release(); // from now on, the server learns of the cancellation before the end
      return await session.send(request, signal);
    } finally {
      release();
      ended.cancel(new Error('the call has ended'));
    }
  }

  private async session(signal: AbortSignal): Promise<Session> {
    const { server, failure } = this;
    if ('client' in server) return new Session(server.client, this.closed, server);
    if (failure && performance.now() < failure.until) throw failure.error;
    this.connecting ??= new SharedWork(
      (abandoned) => this.connect(server, abandoned),
      () => (this.connecting = undefined),
    );
    return this.connecting.wait(signal);
  }

  private async connect(
    server: McpServerSettings & McpAddress,
    abandoned: AbortSignal,
  ): Promise<Session> {
    const ended = new Cancellation();
    onAbort(abandoned, () => ended.cancel(abandoned.reason));
    try {
      const session = await this.open(server, ended);
      this.current = session;
      ended.onCancel(() => this.forget(session));
      return session;
    } catch (cause) {
      const error = this.toError(cause, 'connecting');
      if (!abandoned.aborted) {
        const { reconnectDelay = DEFAULT_RECONNECT_DELAY } = server;
        this.failure = { error, until: performance.now() + reconnectDelay };
        this.connecting = undefined;
      }
      throw error;
    }
  }

  /** Opens a session, which `ended` and the end of all connections end. */
  private open(
    server: McpServerSettings & McpAddress,
    ended: Cancellation,
    ask?: ToolContext['ask'],
  ): Promise<Session> {
    ended.onCancel(this.closed.onCancel((reason) => ended.cancel(reason)));
    const onClosing = (closing: Promise<void>): void => {
      this.closing.add(closing);
      void closing.then(() => this.closing.delete(closing));
    };
    return Session.open(server, { ...this.events, server: this.name, ended, onClosing, ask });
  }

  /** Makes the next request connect again. */
  private forget(session: Session): void {
    if (this.current !== session) return;
    this.current = this.connecting = undefined;
    this.events.onToolsChanged();
  }

  private toError(cause: unknown, what: string): unknown {
    if (AdvisorChainError.isInstance(cause)) return cause;
    const secrets = serverSecrets(this.server);
    // it may be a page of the server, which repeats the request
    const reason = truncate(redact(reasonOf(cause), secrets), MAX_REASON);
    const hint = reason.endsWith('ENOENT') ? '; `command` must be an installed program' : '';
    const message = `${this.label} failed (${what}): ${reason}${hint}`;
    return new McpServerError(message, this.name, { cause: withoutSecrets(cause, secrets) });
  }
}

/** Credentials in the address of a server and in what it is sent. */
function serverSecrets(server: McpServer): readonly string[] {
  const { url = '', requestInit, env } = server as Partial<McpEndpoint & McpProgram>;
  return collectSecrets([], [requestInit?.headers, env], String(url));
}
