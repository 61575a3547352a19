import type { JsonValue } from '../internal/json.js';
import type { JsonSchema } from './tool-definition.js';

/** A tool call that a person must decide on. */
export interface ApprovalRequest {
  readonly type: 'approval';
  /** Key of its {@link Decision}; the same whenever the turn asks for this call. */
  readonly id: string;
  readonly toolName: string;
  readonly callId: string;
  /** The checked arguments: what is shown is what runs. */
  readonly arguments: JsonValue;
  /**
   * The arguments as the model wrote them: whole numbers of more than 15 digits are exact only here.
   */
  readonly argumentsText: string;
  /**
   * The first character of arguments or prompt that nothing shows, such as `U+202E`, which may hide
   * or reverse a part of them.
   */
  readonly hiddenText?: string | undefined;
  /** Text for the person. */
  readonly prompt: string;
  /** Risk of the call, such as `high`, in words of the application. */
  readonly risk?: string | undefined;
  /** Further values for the person. */
  readonly details?: JsonValue | undefined;
  /** Declared effect of the tool; `write` if it has none. */
  readonly effect: 'read' | 'idempotent' | 'write';
  /** Scopes that a decision to allow the call may have. */
  readonly scopes: readonly ('once' | 'conversation' | 'always')[];
  /** Problem of the last decision, which was not valid. */
  readonly problem?: string | undefined;
  /** Fingerprint of the tool when it was asked for; see `toolFingerprint`. */
  readonly fingerprint: string;
  /** Names of the agents that the call is nested in, the outermost first. */
  readonly agents?: readonly string[] | undefined;
  /** End of the time in which it can be decided, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/** A question of a tool to the user. */
export interface QuestionRequest {
  readonly type: 'question';
  /** Key of its {@link Decision}; the same whenever the turn asks this question. */
  readonly id: string;
  readonly toolName: string;
  readonly callId: string;
  readonly prompt: string;
  /** Schema of the answer. */
  readonly schema: JsonSchema;
  readonly hiddenText?: string | undefined;
  /** Problem of the last answer, which was not valid. */
  readonly problem?: string | undefined;
  /** Names of the agents that the call is nested in, the outermost first. */
  readonly agents?: readonly string[] | undefined;
  readonly expiresAt?: number | undefined;
}

/** A request of a turn to a person. */
export type PendingRequest = ApprovalRequest | QuestionRequest;

/** The answer of a person to a {@link PendingRequest}; `by` names the person. */
export type Decision =
  /** Runs the call. `scope` also allows later calls of the tool. @default 'once' */
  | {
      readonly type: 'allow';
      readonly scope?: 'once' | 'conversation' | 'always' | undefined;
      readonly by?: string | undefined;
    }
  /** Does not run the call; the model reads the reason. */
  | {
      readonly type: 'deny';
      readonly reason?: string | undefined;
      readonly by?: string | undefined;
    }
  /** Runs the call with other arguments, which the model sees as those of its call. */
  | { readonly type: 'edit'; readonly arguments: JsonValue; readonly by?: string | undefined }
  /** Answers a question. */
  | { readonly type: 'answer'; readonly value: JsonValue; readonly by?: string | undefined }
  /** Refuses to answer a question. */
  | { readonly type: 'cancel'; readonly by?: string | undefined };

/** Decisions by the id of their request. */
export type Decisions = Readonly<Record<string, Decision>>;

declare module '../errors/advisor-chain-error.js' {
  interface AdvisorChainError {
    /** The turn that the error has ended, if it can go on where it was: that of `client.resume`. */
    readonly paused?: PausedTurn;
  }
}

/** A turn that waits for a person, as data: it goes on by `client.resume(state, decisions)`. */
export interface PausedTurn {
  /** The turn so far, signed, not encrypted: keep it where the conversation may be kept. */
  readonly state: string;
  /** Open requests of the turn; empty if it failed and can go on without a decision. */
  readonly requests: readonly PendingRequest[];
}

/** Adds to the error that ends a turn the data by which it can go on. */
export function addPaused(error: unknown, paused: PausedTurn): void {
  if (error instanceof Error && Object.isExtensible(error))
    Object.defineProperty(error, 'paused', { value: paused, configurable: true });
}
