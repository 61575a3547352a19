import type { JsonValue } from '../../core/internal/json.js';
import type { InspectedChain, TurnSummary } from './inspected-turn.js';

// Requests and events between the page and the handler, as JSON.

/** A change of an advisor for a turn of the page. */
export interface AdvisorOverride {
  readonly name: string;
  /** False leaves the advisor out. */
  readonly isPresent?: boolean;
  readonly order?: number;
  /**
   * Options on top of its own; values of other types than JSON stay unchanged. It is made again with them, so what it
   * keeps in itself begins empty.
   */
  readonly options?: Readonly<Record<string, JsonValue>>;
}

/** A turn that the page asks for. */
export interface TurnToTry {
  /** @default the text of the turn that is repeated */
  readonly text?: string;
  /**
   * Id of a turn to run again: its messages, conversation, options and advisors. It has the history that the turn had,
   * and its conversation does not get it a second time, unless `conversationId` names one, which is used as usual.
   */
  readonly repeat?: string;
  /** @default a new one, or the one of the repeated turn */
  readonly conversationId?: string;
  readonly mode?: 'call' | 'stream';
  /** Options of the model, such as `{ "temperature": 0 }`. */
  readonly options?: Readonly<Record<string, JsonValue>>;
  readonly advisors?: readonly AdvisorOverride[];
}

/**
 * Events of `GET /api/events`, as server-sent events of JSON: all turns at first, then each change, at most ten in a
 * second for one turn.
 */
export type InspectorEvent =
  | {
      readonly type: 'hello';
      readonly version: string;
      /** False without a client: turns are shown, not started. */
      readonly canTry: boolean;
      readonly chain?: InspectedChain;
      readonly turns: readonly TurnSummary[];
      /** Turns and bytes that are kept, and their bounds. */
      readonly kept: KeptTurns;
    }
  | { readonly type: 'turn'; readonly turn: TurnSummary; readonly kept?: KeptTurns }
  | { readonly type: 'removed'; readonly ids: readonly string[]; readonly kept: KeptTurns };

export interface KeptTurns {
  readonly turns: number;
  readonly maxTurns: number;
  readonly bytes: number;
  readonly maxBytes: number;
}
