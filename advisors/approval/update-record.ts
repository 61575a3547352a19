import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';

/** A list in a store, as JSON, that several processes change. */
export interface ListRecord<Entry> {
  readonly store: KeyValueStore;
  readonly key: string;
  /** Lifetime after a change, in milliseconds. */
  readonly ttl: number;
  readonly read: (record: string | undefined) => readonly Entry[];
}

/** Changes a list, again if another process has changed it; false if there is nothing to change. */
export async function updateRecord<Entry>(
  { store, key, ttl, read }: ListRecord<Entry>,
  change: (entries: readonly Entry[]) => readonly Entry[],
): Promise<boolean> {
  for (;;) {
    const record = await store.get(key);
    const before = read(record);
    const after = change(before);
    if (JSON.stringify(after) === JSON.stringify(before)) return false;
    const options = { ttl, expected: record ?? null };
    if (await store.set(key, JSON.stringify(after), options)) return true;
  }
}
