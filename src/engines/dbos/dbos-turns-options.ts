import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { PromptSpec } from '../../core/client/chat-client.js';
import type { DurableEngine } from '../durable-engine.js';
import type { JsonValue } from '../../core/internal/json.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  PLAIN_OBJECT,
  POSITIVE,
  required,
  TEXT,
} from '../../core/internal/options.js';

/** A turn as it runs. */
export interface DbosTurn {
  /** Also the id of its workflow. */
  readonly turnId: string;
  /** The conversation that it was started in. */
  readonly conversationId: string | undefined;
  /** Aborted when the turn is cancelled, or continues in another process. */
  readonly signal: AbortSignal;
  /** For steps of the application, such as `engine.step('load user', …)`. */
  readonly engine: DurableEngine;
}

/** A queue of turns, shared by all processes with this database. */
export interface DbosQueueOptions {
  /** Turns that run at once in all processes. @default no limit */
  readonly concurrency?: number | undefined;
  /** Turns that run at once in this process. @default no limit */
  readonly workerConcurrency?: number | undefined;
  /** Runs one turn of a conversation at a time, in the order of their start. @default true */
  readonly perConversation?: boolean | undefined;
  /** Interval in milliseconds at which a process looks for turns. @default 1,000 */
  readonly pollInterval?: number | undefined;
}

/** Options of {@link DbosTurns}. */
export interface DbosTurnsOptions<Input extends JsonValue> {
  /** Name of the turns in the database. It stays the same when the application changes. */
  readonly name: string;
  /**
   * Makes the request of a turn; called again when the turn continues in another process. What it
   * depends on besides the input is a step: `await turn.engine.step('load user', …)`.
   */
  readonly run: (input: Input, turn: DbosTurn) => PromptSpec | Promise<PromptSpec>;
  /** Receives the events of turns in the process that runs them, which are streamed then. */
  readonly onEvent?: ((event: ChatEvent, turn: DbosTurn) => void) | undefined;
  /** A queue for the turns. @default none: a turn runs at once in the process that starts it */
  readonly queue?: DbosQueueOptions | undefined;
  /**
   * Continues a turn with its recorded answers when its request has changed since, as by another
   * system text of a newer deployment. Else it fails with a `NonDeterminismError`. @default false
   */
  readonly keepsAnswers?: boolean | undefined;
  /** Number of times that a turn is started again after its process has died. @default 100 */
  readonly maxRecoveries?: number | undefined;
}

/** Options of {@link DbosTurns.start}. */
export interface StartOptions {
  /** Identifier of the turn, such as the message's. A second start with it starts nothing. @default random */
  readonly turnId?: string | undefined;
  /** Conversation of the turn, for the queue and for chat memory. */
  readonly conversationId?: string | undefined;
}

/** Options of {@link DbosTurns.result}. */
export interface ResultOptions {
  /** Interval in milliseconds at which the database is asked for the end of a turn that runs elsewhere. @default 1,000 */
  readonly pollInterval?: number | undefined;
}

/** Options of {@link DbosTurns.fork}. */
export interface ForkOptions {
  /** Identifier of the new turn. @default random */
  readonly turnId?: string | undefined;
}

const WHERE = 'DbosTurns';

/** @throws {@link InvalidArgumentError} if an option breaks its rule */
export function checkTurnsOptions<Input extends JsonValue>(options: DbosTurnsOptions<Input>): void {
  checkOption(WHERE, 'options', options, PLAIN_OBJECT);
  checkOptions(WHERE, options, {
    name: required(TEXT),
    run: required(FUNCTION),
    onEvent: FUNCTION,
    queue: PLAIN_OBJECT,
    keepsAnswers: BOOLEAN,
    maxRecoveries: integer(1),
  });
  const { queue } = options;
  const limits = { concurrency: integer(1), workerConcurrency: integer(1) };
  const rules = { ...limits, perConversation: BOOLEAN, pollInterval: POSITIVE };
  if (queue) checkOptions(WHERE, queue, rules, 'queue.');
}
