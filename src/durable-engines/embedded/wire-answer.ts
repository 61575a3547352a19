const READY = 'Z'.charCodeAt(0);
const NOTIFICATION = 'A'.charCodeAt(0);
/** The status of a session without a transaction. */
const IDLE = 'I'.charCodeAt(0);

/** The output of the database for a unit. */
export interface WireAnswer {
  /** For the client that sent the unit. */
  readonly own: Buffer;
  /** Notifications, which are for all clients. */
  readonly notifications: Buffer;
  /** True if the session has no transaction; undefined if the output does not end a query. */
  readonly isIdle: boolean | undefined;
}

/** Splits the output of the database. */
export function splitAnswer(output: Uint8Array): WireAnswer {
  const bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  const own: Buffer[] = [];
  const notifications: Buffer[] = [];
  let isIdle: boolean | undefined;
  for (let at = 0; at + 5 <= bytes.length;) {
    const message = bytes.subarray(at, at + 1 + bytes.readInt32BE(at + 1));
    (message[0] === NOTIFICATION ? notifications : own).push(message);
    if (message[0] === READY) isIdle = message[5] === IDLE;
    at += message.length;
  }
  return { own: Buffer.concat(own), notifications: Buffer.concat(notifications), isIdle };
}

/** A request for a password in clear text. */
export const PASSWORD_REQUEST = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

/** An error that ends a connection. */
export function fatalError(code: string, text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

/** A simple query. */
export function simpleQuery(sql: string): Uint8Array {
  const text = Buffer.from(`${sql}\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length + 4);
  return Buffer.concat([Buffer.from('Q'), length, text]);
}
