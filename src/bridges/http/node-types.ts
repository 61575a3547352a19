/** A request of Node.js: of `node:http` and `node:http2`, and so of Express. */
export interface NodeIncoming {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket?: object | null;
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  off(event: string, listener: (...values: unknown[]) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** A response of Node.js. */
export interface NodeOutgoing {
  readonly headersSent: boolean;
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  setHeader(name: string, value: string | readonly string[]): unknown;
  writeHead(status: number): unknown;
  /** Absent in HTTP/2, which sends headers at once. */
  flushHeaders?(): void;
  write(chunk: Uint8Array): boolean;
  end(): unknown;
  destroy(): unknown;
  on(event: string, listener: () => void): unknown;
  once(event: string, listener: () => void): unknown;
}

/** A request of Fastify. */
export interface WrappedIncoming {
  readonly raw: NodeIncoming;
  readonly body?: unknown;
}

/** A reply of Fastify. */
export interface WrappedOutgoing {
  readonly raw: NodeOutgoing;
  hijack(): unknown;
  getHeaders(): object;
}
