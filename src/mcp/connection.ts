import { AdvisorChainError, McpServerError } from '../errors.js';
import { Cancellation, cancelledError, onAbort } from '../internal/cancellation.js';
import type { JsonObject } from '../internal/options.js';
import { SharedWork } from '../internal/shared-work.js';
import { reasonOf, truncate } from '../internal/text.js';
import { collectSecrets, redact, withoutSecrets } from '../models/http/redact.js';
import type { McpEndpoint, McpProgram, McpServer, McpServerSettings } from './mcp-options.js';
import { Session, type AnyClient, type McpRequest, type SessionEvents } from './session.js';
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
    private readonly events: Omit<SessionEvents, 'onClosing'>,
  ) {}

  /** The connected client of the package. */
  async client(signal: AbortSignal): Promise<AnyClient> {
    return (await this.session(signal)).client;
  }

  /**
   * Sends a request; again if the server does not know the session any more, and so did not run it.
   * @throws {@link McpServerError} if the server fails, {@link LimitExceededError} if its answer is
   * too large, {@link CancelledError}
   */
  async request(request: McpRequest, signal: AbortSignal): Promise<JsonObject> {
    for (let retry = 0; ; retry++) {
      const session = await this.session(signal);
      try {
        return await session.send(request, signal);
      } catch (error) {
        if (signal.aborted) throw cancelledError(signal.reason);
        const isOwn = !('client' in this.server);
        if (!isOwn || retry > 0 || !isUnknownSession(error))
          throw this.toError(error, request.method);
        this.forget(session);
        session.retire(); // its other requests may have run: they are not repeated
      }
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
    const { current } = this;
    const transport = current?.client.transport as Partial<HttpSession> | undefined;
    if (transport?.terminateSession && !('client' in this.server)) {
      const ended = (): Promise<void> => Promise.resolve(transport.terminateSession?.());
      await inTime(ended, CLOSE_TIMEOUT, new Error()).catch(() => undefined);
    }
    this.closed.cancel(new McpServerError(`${this.label} was closed`, this.name));
    const programs = (): Promise<unknown> => Promise.all(this.closing);
    await inTime(programs, CLOSE_TIMEOUT, new Error()).catch(() => undefined);
  }

  private get label(): string {
    return `the MCP server "${this.name}"`;
  }

  private async session(signal: AbortSignal): Promise<Session> {
    const { server, failure, closed } = this;
    if (closed.cancelled)
      throw new McpServerError(`${this.label} was closed; call mcpTools again`, this.name);
    if ('client' in server) return new Session(server.client, closed, server);
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
    const release = this.closed.onCancel((reason) => ended.cancel(reason));
    onAbort(abandoned, () => ended.cancel(abandoned.reason));
    try {
      const onClosing = (closing: Promise<void>): void => {
        this.closing.add(closing);
        void closing.then(() => this.closing.delete(closing));
      };
      const session = await Session.open(server, this.name, ended, { ...this.events, onClosing });
      this.current = session;
      ended.onCancel(() => {
        release();
        this.forget(session);
      });
      return session;
    } catch (cause) {
      release();
      const error = this.toError(cause, 'connecting');
      if (!abandoned.aborted) {
        const { reconnectDelay = DEFAULT_RECONNECT_DELAY } = server;
        this.failure = { error, until: performance.now() + reconnectDelay };
        this.connecting = undefined;
      }
      throw error;
    }
  }

  /** Makes the next request connect again. */
  private forget(session: Session): void {
    if (this.current !== session) return;
    this.current = this.connecting = undefined;
    this.events.onToolsChanged();
  }

  private toError(cause: unknown, what: string): unknown {
    if (AdvisorChainError.isInstance(cause)) return cause;
    const secrets = secretsOf(this.server);
    // it may be a page of the server, which repeats the request
    const reason = truncate(redact(reasonOf(cause), secrets), MAX_REASON);
    const message = `${this.label} failed (${what}): ${reason}`;
    return new McpServerError(message, this.name, { cause: withoutSecrets(cause, secrets) });
  }
}

/** The part of a transport over HTTP that ends a session of the server. */
interface HttpSession {
  terminateSession(): Promise<void>;
}

/** Credentials in the address of a server and in what it is sent. */
function secretsOf(server: McpServer): readonly string[] {
  const { url = '', requestInit, env } = server as Partial<McpEndpoint & McpProgram>;
  return collectSecrets([], [requestInit?.headers, env], String(url));
}

/** True if the server answered that it does not know the session, as after its restart. */
function isUnknownSession(error: unknown): boolean {
  const { status, message } = error as { readonly status?: unknown; readonly message?: unknown };
  return status === 404 || (status === 400 && /session/i.test(String(message)));
}

/** Runs work until a time limit, whose signal then aborts. */
function inTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeout: number,
  timedOut: Error,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancellation = new Cancellation();
    const releases: (() => void)[] = [];
    const end = (): void => releases.forEach((release) => release());
    const stop = (error: Error): void => {
      end();
      reject(error);
      cancellation.cancel(error);
    };
    if (timeout !== Infinity) {
      const timer = setTimeout(() => stop(timedOut), timeout);
      releases.push(() => clearTimeout(timer));
    }
    if (signal) releases.push(onAbort(signal, () => stop(cancelledError(signal.reason))));
    work(cancellation.signal).then(resolve, reject).finally(end);
  });
}
