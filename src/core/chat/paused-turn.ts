import type { JsonValue } from '../internal/json.js';
import type { Message } from './message.js';
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

/** A call of a tool without `execute`: the client runs it, and answers with its output. */
export interface ClientToolRequest {
  readonly type: 'client-tool';
  /** Key of its {@link Decision}; the same whenever the turn asks for this call. */
  readonly id: string;
  readonly toolName: string;
  readonly callId: string;
  /** The checked arguments, with which the client runs the tool. */
  readonly arguments: JsonValue;
  /** Text for a list of open requests. */
  readonly prompt: string;
  /** Schema of the output, if the tool has one. */
  readonly schema?: JsonSchema | undefined;
  readonly hiddenText?: string | undefined;
  /** Problem of the last answer, which was not valid. */
  readonly problem?: string | undefined;
  /** Names of the agents that the call is nested in, the outermost first. */
  readonly agents?: readonly string[] | undefined;
  readonly expiresAt?: number | undefined;
}

/** A request that a tool makes while it runs. */
export type ToolRequest = QuestionRequest | ClientToolRequest;

/** A request of a turn to a person, or to the client. */
export type PendingRequest = ApprovalRequest | ToolRequest;

/** The answer to a {@link PendingRequest}; `by` names the person. */
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
  /** Runs the call with other arguments, which replace the model's in the conversation. */
  | { readonly type: 'edit'; readonly arguments: JsonValue; readonly by?: string | undefined }
  /** Answers a question, or gives the output of a tool that the client has run. */
  | { readonly type: 'answer'; readonly value: JsonValue; readonly by?: string | undefined }
  /** Refuses to answer a question, or to run a tool; the model reads the reason, such as an error. */
  | {
      readonly type: 'cancel';
      readonly reason?: string | undefined;
      readonly by?: string | undefined;
    };

/** Decisions by the id of their request. */
export type Decisions = Readonly<Record<string, Decision>>;

/**
 * The decisions with which a turn is resumed: a record, or a function that gets a copy of each request
 * that is open then, also of one that has not been shown. A request for which it returns `undefined`
 * stays open.
 */
export type ResumeDecisions =
  Decisions | ((request: PendingRequest) => Decision | undefined | Promise<Decision | undefined>);

declare module '../errors/advisor-chain-error.js' {
  interface AdvisorChainError {
    /** The turn that the error has ended, if `client.resume` can continue it. */
    readonly paused?: PausedTurn;
  }
}

/** A turn that waits for a person, as data; `client.resume(id, decisions)` continues it. */
export interface PausedTurn {
  /**
   * The id under which the store of the turn keeps it, the same at each of its pauses. Undefined if the
   * store has failed: then the turn is resumed by its `state`.
   */
  readonly id?: string;
  /** The turn so far, encrypted: only clients with the secret can read it. `resume` takes it, too. */
  readonly state: string;
  /** Open requests of the turn; empty if it failed and needs no decision to continue. */
  readonly requests: readonly PendingRequest[];
}

/** A paused turn, as `client.pending(conversationId)` and `client.pending({ id })` find it. */
export interface PendingTurn {
  /** The id for `client.resume(id, decisions)`. */
  readonly id: string;
  readonly turnId: string;
  /** Time of the pause, in milliseconds since 1970. */
  readonly at: number;
  /** Open requests of the turn; empty if it failed and needs no decision to continue. */
  readonly requests: readonly PendingRequest[];
  /** Its messages so far, as its events have shown them: the question, answers with calls, results. */
  readonly messages: readonly Message[];
}

/** Adds to the error that ends a turn the data to resume it. */
export function addPaused(error: unknown, paused: PausedTurn): void {
  if (error instanceof Error && Object.isExtensible(error))
    Object.defineProperty(error, 'paused', { value: paused, configurable: true });
}
