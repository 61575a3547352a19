import { parseJson } from '../../src/core/internal/json.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import type { TurnState } from './turn-state.js';
import { updateRecord } from './update-record.js';

/** The client, the owner and the conversation of paused turns. */
export type KeptPlace = Pick<TurnState, 'client' | 'owner' | 'conversationId'>;
/** A turn that a store keeps. */
export type KeptTurn = KeptPlace & { readonly keptAs: string; readonly expiresAt: number };

/** The id of a kept turn, and the end of its lifetime. */
type Entry = readonly [id: string, expiresAt: number];

/** Paused turns of one place: the oldest are not listed beyond. */
const MAX_ENTRIES = 1_000;
/** A turn is known to have expired, or ended, for an hour after its lifetime. */
const MARGIN = 3_600_000;

/** Sealed states in a store, by the id of their turn, and the ids of a conversation. */
export class KeptStates {
  constructor(private readonly store: KeyValueStore) {}

  /** The sealed state that was kept last; undefined if there is none. */
  textOf(id: string): Promise<string | undefined> {
    return this.store.get(keyOf(id));
  }

  /** Ids of the turns of a place, the latest pause last. */
  async idsOf(place: KeptPlace): Promise<readonly string[]> {
    return entriesIn(await this.store.get(listKeyOf(place))).map(([id]) => id);
  }

  /** Keeps the state of a turn in the place of an earlier one. */
  async keep(turn: KeptTurn, text: string): Promise<void> {
    const { keptAs, expiresAt } = turn;
    await this.store.set(keyOf(keptAs), text, { ttl: ttlUntil(expiresAt) });
    await this.update(turn, (others) => [...others, [keptAs, expiresAt]]);
  }

  /** Removes a turn that has ended. */
  async remove(turn: KeptTurn): Promise<void> {
    await this.store.delete(keyOf(turn.keptAs));
    await this.update(turn, (others) => others);
  }

  /** @param change makes the list from the entries of the other turns */
  private async update(
    turn: KeptTurn,
    change: (others: readonly Entry[]) => readonly Entry[],
  ): Promise<void> {
    if (turn.conversationId === null) return;
    const { store } = this;
    const record = { store, key: listKeyOf(turn), ttl: ttlUntil(turn.expiresAt), read: entriesIn };
    await updateRecord(record, (entries) =>
      change(entries.filter(([id]) => id !== turn.keptAs)).slice(-MAX_ENTRIES),
    );
  }
}

const keyOf = (id: string): string => `paused-turn ${id} state`;

function listKeyOf({ client, owner, conversationId }: KeptPlace): string {
  const place = [client ?? null, owner ?? null, conversationId];
  return `paused-turns ${sha256Hex(JSON.stringify(place))}`;
}

const ttlUntil = (expiresAt: number): number => Math.max(expiresAt - Date.now(), 0) + MARGIN;

/** Those whose lifetime is not over. */
function entriesIn(record: string | undefined): readonly Entry[] {
  const entries = record === undefined ? [] : (parseJson(record) as unknown as readonly Entry[]);
  return entries.filter(([, expiresAt]) => expiresAt > Date.now());
}
