import type { AdvisorContext } from '../core/chat/context.js';
import type { Document, DocumentMetadata } from '../core/chat/document.js';
import type { RunReport } from '../core/chat/run-report.js';

/** A question and its answer, for what is to be remembered of them. */
export interface Exchange {
  /** Text of the last message of the user; empty for media alone. */
  readonly question: string;
  readonly answer: string;
  /** The memories that the turn began with. */
  readonly memories: readonly Document[];
  /** The turn, with its tool calls. */
  readonly run: RunReport;
  readonly context: AdvisorContext;
  /** Ends the extraction with the run. */
  readonly signal: AbortSignal;
}

/** A text to remember. */
export interface NewMemory {
  /** Kind of memory, such as `fact`; the model gets it in lower case. */
  readonly type: string;
  readonly text: string;
  /** Metadata besides `type`, `turn`, `memory` and `time`. @default none */
  readonly metadata?: DocumentMetadata | undefined;
}

/** Selects what is remembered of an exchange; the advisor stores all of it, or nothing. */
export type MemoryExtractor = (
  exchange: Exchange,
) => readonly NewMemory[] | Promise<readonly NewMemory[]>;
