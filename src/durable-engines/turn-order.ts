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
