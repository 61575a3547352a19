/** Length of the first message of a connection without its content. */
const STARTUP_HEADER = 8;
const HEADER = 5;

/** Requests that come before the startup message, by their code. */
export const CANCEL_REQUEST = 80_877_102;
export const SSL_REQUEST = 80_877_103;
export const GSS_REQUEST = 80_877_104;

/** A part of what a client sends that the database runs at once. */
export interface WireUnit {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/**
 * Cuts what a client of the PostgreSQL protocol sends into units: a query, or the messages of the
 * extended protocol up to the one that asks for an answer. Units of two clients may alternate, their
 * messages may not: the database has one session, with one unnamed statement.
 */
export class WireUnits {
  private buffer: Buffer = Buffer.alloc(0);
  /** Messages of the extended protocol before their `Sync` or `Flush`. */
  private pending: Buffer[] = [];

  add(bytes: Buffer): void {
    this.buffer = this.buffer.length === 0 ? bytes : Buffer.concat([this.buffer, bytes]);
  }

  /** The next message without a type: the first ones of a connection. */
  startup(): { readonly code: number; readonly bytes: Uint8Array } | undefined {
    const { buffer } = this;
    if (buffer.length < STARTUP_HEADER || buffer.length < buffer.readInt32BE(0)) return undefined;
    return { code: buffer.readInt32BE(4), bytes: this.take(buffer.readInt32BE(0)) };
  }

  /** The bytes up to a line end. */
  line(): string | undefined {
    const end = this.buffer.indexOf('\n');
    return end < 0 ? undefined : this.take(end + 1).toString('latin1', 0, end);
  }

  /** The next byte, which stays. */
  peek(): number | undefined {
    return this.buffer[0];
  }

  unit(): WireUnit | undefined {
    for (let message = this.message(); message; message = this.message()) {
      const type = String.fromCharCode(message[0] as number);
      this.pending.push(message);
      if (EXTENDED.has(type)) continue;
      const bytes = Buffer.concat(this.pending);
      this.pending = [];
      return { type, bytes };
    }
    return undefined;
  }

  private message(): Buffer | undefined {
    const { buffer } = this;
    if (buffer.length < HEADER || buffer.length < 1 + buffer.readInt32BE(1)) return undefined;
    return this.take(1 + buffer.readInt32BE(1));
  }

  private take(length: number): Buffer {
    const taken = this.buffer.subarray(0, length);
    this.buffer = this.buffer.subarray(length);
    return taken;
  }
}

/** Messages that wait for a `Sync` or `Flush`: Parse, Bind, Describe, Execute, Close. */
const EXTENDED = new Set(['P', 'B', 'D', 'E', 'C']);
