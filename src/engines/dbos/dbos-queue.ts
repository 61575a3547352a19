import { DBOS } from './dbos-sdk.js';
import type { DbosQueueOptions } from './dbos-turns-options.js';

/** Parameters that put a turn on the queue of its turns. */
export interface QueuePlace {
  readonly queueName: string;
  readonly enqueueOptions?: { readonly queuePartitionKey: string };
}

interface ForkPlace {
  readonly queueName: string;
  readonly queuePartitionKey?: string;
}

/** The queue of the turns of one name. DBOS keeps its limits in the database. */
export class DbosQueue {
  constructor(
    private readonly name: string,
    private readonly options: DbosQueueOptions,
  ) {
    DBOS.registerLifecycleCallback({ initialize: () => this.register() });
  }

  /** A turn without a conversation has one of its own. */
  placeOf(turnId: string, conversationId: string | undefined): QueuePlace {
    const { name: queueName } = this;
    if (!this.isPartitioned) return { queueName };
    const key = conversationId === undefined ? `turn ${turnId}` : `conversation ${conversationId}`;
    return { queueName, enqueueOptions: { queuePartitionKey: key } };
  }

  /** As DBOS wants it for a copy of a turn. */
  forkPlaceOf(turnId: string, conversationId: string | undefined): ForkPlace {
    const { queueName, enqueueOptions } = this.placeOf(turnId, conversationId);
    return { queueName, ...enqueueOptions };
  }

  private get isPartitioned(): boolean {
    return this.options.perConversation !== false;
  }

  private async register(): Promise<void> {
    const { concurrency, workerConcurrency, pollInterval } = this.options;
    await DBOS.registerQueue(this.name, {
      ...(concurrency !== undefined && { globalConcurrency: concurrency }),
      ...(workerConcurrency !== undefined && { workerConcurrency }),
      ...(this.isPartitioned && { partitionConcurrency: 1 }),
      ...(pollInterval !== undefined && { minPollingIntervalMs: pollInterval }),
      onConflict: 'always_update',
    });
  }
}

/** DBOS orders the turns of a conversation by the millisecond in which they were started. */
const APART = 2;

/** Lets the starts of each conversation happen one after another, in different milliseconds. */
export class TurnOrder {
  private readonly last = new Map<string, Promise<unknown>>();

  async inOrder<T>(conversationId: string | undefined, start: () => Promise<T>): Promise<T> {
    if (conversationId === undefined) return start();
    const started = (this.last.get(conversationId) ?? Promise.resolve()).then(start);
    const apart = started.then(pause, pause);
    this.last.set(conversationId, apart);
    void apart.then(() => {
      if (this.last.get(conversationId) === apart) this.last.delete(conversationId);
    });
    return started;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, APART));
}
