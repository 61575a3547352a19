import { Readable } from 'node:stream';

/** The input of a terminal, which may be switched to single keys. */
export interface KeySource extends Readable {
  readonly isTTY?: boolean | undefined;
  setRawMode?(isRaw: boolean): unknown;
}

/**
 * Keys for `node:readline`, which gets them when it shall edit a line, and only then: it would show those that
 * are typed during an answer in the middle of it.
 */
export class KeyStream extends Readable {
  constructor(private readonly source: KeySource) {
    super({ read: () => undefined });
  }

  /** Passes keys to readline at once. */
  feed(keys: string): void {
    this.emit('data', keys);
  }

  /** Called by readline when it is opened, suspended, and closed. */
  setRawMode(isRaw: boolean): this {
    this.source.setRawMode?.(isRaw);
    return this;
  }
}
