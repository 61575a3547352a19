/** Persistence and eviction of a Redis server, as far as it reports them. */
export interface RedisServer {
  /** True if it has an append-only file. */
  readonly isDurable: boolean;
  /** Its eviction policy; undefined if it has no limit of memory, or does not report it. */
  readonly evictionPolicy: string | undefined;
}

/** Sends a command to a server. */
export type SendCommand = (command: string, ...values: string[]) => Promise<unknown>;

/** Asks a server; a server that refuses to answer has no known properties. */
export async function describeServer(sendCommand: SendCommand): Promise<RedisServer> {
  const info = await sendCommand('INFO').catch((error: unknown) => {
    // a user without this command, or a proxy
    if (isErrorReply(error)) return '';
    throw error;
  });
  const fieldOf = (name: string): string | undefined =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(String(info))?.[1];
  return {
    isDurable: fieldOf('aof_enabled') === '1',
    evictionPolicy: Number(fieldOf('maxmemory')) > 0 ? fieldOf('maxmemory_policy') : undefined,
  };
}

/** True for an answer of the server: it begins with a word in capitals, a client's with a sentence. */
export function isErrorReply(error: unknown): boolean {
  return /^[A-Z]{2,} /.test((error as Partial<Error> | null)?.message ?? '');
}
