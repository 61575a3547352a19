import type { Message } from '../../core/chat/message.js';

/** Bytes of a message, besides its texts. */
const PER_MESSAGE = 200;

/** Estimates the memory of messages: two bytes for each character, each message once. */
export class MessageSizes {
  private readonly counted = new Set<Message>();
  private previous: readonly Message[] = [];

  /** Ends the count: each turn that is kept would keep the messages once more. */
  clear(): void {
    this.counted.clear();
    this.previous = [];
  }

  /** Bytes of the messages of a request that have not been counted. */
  ofRequest(messages: readonly Message[]): number {
    const { previous } = this;
    this.previous = messages;
    let bytes = 0;
    for (let at = 0; at < messages.length; at++) {
      const message = messages[at] as Message;
      // requests of a loop grow from one another
      if (message !== previous[at]) bytes += this.of(message);
    }
    return bytes;
  }

  of(message: Message): number {
    if (this.counted.has(message)) return 0;
    this.counted.add(message);
    return PER_MESSAGE + sizeOf(message);
  }
}

/** Values of which the size is counted; more are estimated by their number. */
const MAX_VALUES = 1_000;

/** Bytes of the texts of a value, down to a depth; of one that cannot be read, none. */
export function sizeOf(value: unknown): number {
  try {
    return bytesOf(value, 5, { values: MAX_VALUES });
  } catch {
    return 0; // a getter or a proxy threw
  }
}

function bytesOf(value: unknown, depth: number, left: { values: number }): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value !== 'object' || value === null || depth === 0) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  const keys = Object.keys(value);
  let bytes = 16 * keys.length;
  for (const key of keys) {
    if (left.values-- <= 0) break;
    bytes += bytesOf((value as Readonly<Record<string, unknown>>)[key], depth - 1, left);
  }
  return bytes;
}
