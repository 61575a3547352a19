import type { Advisor } from '../../core/advisor/advisor.js';
import type { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import { ContextKey } from '../../core/chat/context.js';
import type { PausedTurn } from '../../core/chat/paused-turn.js';
import type { ChatClient } from '../../core/client/chat-client.js';
import type { ObservedRequest } from '../../core/observation/observation.js';
import type {
  AdvisorState,
  ExportedTurns,
  InspectedChain,
  InspectedTurn,
  TurnSummary,
} from './inspected-turn.js';
import type { InspectorEvent, KeptTurns } from './page-messages.js';

/** A change of the turns of an inspector. */
export type TurnsEvent = Exclude<InspectorEvent, { readonly type: 'hello' }>;

/** The turns that a page shows: the part of an inspector that its handler needs. */
export interface InspectedSource extends Advisor {
  /** All kept turns, in the order of their start. */
  turns(): readonly TurnSummary[];
  turn(id: string): InspectedTurn | undefined;
  /** Present states of the advisors of a turn; empty for a turn of a file without states. */
  states(id: string): Promise<readonly AdvisorState[]>;
  export(ids: readonly string[]): Promise<ExportedTurns>;
  /**
   * Adds the turns of a file, and returns their ids.
   * @throws InvalidArgumentError if it is not such a file
   */
  import(file: unknown): readonly string[];
  /** Ends a turn that runs; false if it does not. */
  cancel(id: string): boolean;
  /** Forgets all turns that have ended. */
  clear(): void;
  kept(): KeptTurns;
  chainOf(client: ChatClient): InspectedChain;
  /**
   * Calls the listener for each change, at most ten times in a second for a turn that runs; returns the
   * function that ends that.
   */
  subscribe(listener: (event: TurnsEvent) => void): () => void;
  /** The live parts of a turn; undefined for one of a file, and one that was dropped. */
  live(id: string): LiveTurn | undefined;
  /** Masks secrets in a text, by the rules of the inspector. */
  redact(text: string): string;
}

/** The parts of a turn with which it can run again, or be resumed. */
export interface LiveTurn {
  /** As the inspector has received it. */
  readonly request: ChatClientRequest;
  /** The advisors of the chain, with their parts. */
  readonly advisors: readonly Advisor[];
  /** The first request that a model got, with the changes that led to it. */
  readonly sent?: ObservedRequest | undefined;
  readonly paused?: PausedTurn | undefined;
}

/** Marks a turn that the page starts: its `source` is `page`. */
export interface PageStart {
  /** Receives the id of the turn in the inspector, when it begins. */
  readonly begun: (id: string) => void;
}

/** The key under which a request has the {@link PageStart}; only the first turn that reads it has it. */
export const PAGE_START = new ContextKey<PageStart | undefined>('advisor-chain.page-start');
