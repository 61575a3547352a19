import { simpleQuery, splitAnswer, type WireAnswer } from './wire-answer.js';

/** Runs bytes of the PostgreSQL protocol, as PGlite does. */
export interface WireDatabase {
  execProtocolRaw(message: Uint8Array): Promise<Uint8Array>;
}

/** Milliseconds that a client may leave a transaction open while it sends nothing and others wait. */
const MAX_IDLE_TRANSACTION = 60_000;

interface Waiting {
  readonly client: object;
  readonly bytes: Uint8Array;
  readonly resolve: (answer: WireAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The one session of an embedded database, which many clients use in turn: one that has opened a
 * transaction keeps the session until its end, the others wait.
 */
export class SharedSession {
  private waiting: Waiting[] = [];
  private owner: object | undefined;
  private isRunning = false;
  private running: Promise<unknown> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param expel called with a client that leaves its transaction open while others wait */
  constructor(
    private readonly database: WireDatabase,
    private readonly expel: (client: object) => void,
  ) {}

  run(client: object, bytes: Uint8Array): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ client, bytes, resolve, reject });
      void this.next();
    });
  }

  /** Ends what a client that has left was doing. */
  async leave(client: object): Promise<void> {
    this.waiting = this.waiting.filter((each) => each.client !== client);
    if (this.owner === client) await this.run(client, simpleQuery('ROLLBACK'));
  }

  /** Resolves when the database runs nothing. */
  async settled(): Promise<void> {
    this.waiting = [];
    await this.running;
  }

  private async next(): Promise<void> {
    if (this.isRunning) return;
    const at = this.waiting.findIndex(({ client }) => !this.owner || client === this.owner);
    if (at < 0) return this.limitOwner();
    clearTimeout(this.timer);
    this.isRunning = true;
    const [{ client, bytes, resolve, reject }] = this.waiting.splice(at, 1) as [Waiting];
    try {
      const output = this.database.execProtocolRaw(bytes);
      this.running = output.catch(() => undefined);
      const answer = splitAnswer(await output);
      this.owner = answer.isIdle ? undefined : client;
      resolve(answer);
    } catch (error) {
      reject(error);
    } finally {
      this.isRunning = false;
    }
    void this.next();
  }

  private limitOwner(): void {
    const { owner } = this;
    clearTimeout(this.timer);
    if (!owner || this.waiting.length === 0) return;
    this.timer = setTimeout(() => this.expel(owner), MAX_IDLE_TRANSACTION);
  }
}
