import type { Cancellable } from '../internal/cancellation.js';
import { describe } from '../errors/describe.js';
import { ChainError, InvalidArgumentError } from '../errors/errors.js';
import type { JsonValue } from '../internal/json.js';
import { hasMethods } from '../internal/options.js';
import type { Observable } from '../internal/rxjs.js';
import type { ChatEvent } from './chat-event.js';
import type { ModelRun } from './chat-model.js';
import type { ChatResponse } from './chat-response.js';
import type { Mutable } from './loop-record.js';
import type { PendingRequest } from './paused-turn.js';
import type { Prompt } from './prompt.js';
import type { ModelCallRecord } from './run-report.js';

/**
 * Runs each operation of a turn once: records the ends of operations, so that the turn can be
 * replayed, in another process, where a recorded end replaces the operation. {@link LIVE} records
 * nothing.
 *
 * The place of an operation is its name in the turn, the same in each replay of the turn. Operations
 * of one place begin in the same order; operations of different places may begin in any order.
 */
export interface RunRecorder {
  /** False if nothing is recorded. */
  readonly isRecording: boolean;
  /** True while recorded ends are left: the turn has not come to where it was before. */
  readonly isReplaying: boolean;
  /**
   * The end of an operation: the recorded one, or the end of `live`, called at most once. An end is a
   * value, or an error that the codec takes for one. Nothing is recorded of an operation that fails
   * otherwise: a replay runs it again.
   * @param live receives the name of the recorded step, which no other operation of the turn has;
   * undefined if nothing is recorded
   * @throws the error of `live`, the error of the recorder
   */
  step<T>(
    place: string,
    live: (name: string | undefined) => Promise<T>,
    codec: StepCodec<T>,
  ): Promise<T>;
  /** Waits a number of milliseconds, from the first time that the turn came here. */
  sleep(place: string, milliseconds: number): Promise<void>;
  /** The model whose calls are recorded, also those that fail. */
  model(live: CallableModel, call: ModelCallSite): CallableModel;
  /**
   * The recorder of a turn within this one, by the key of the call that it answers.
   * @returns undefined if it has no steps of its own: the call is one step
   */
  nested(key: string): RunRecorder | undefined;
  /**
   * The decision of a person on a request; undefined if none came in time.
   * @throws {@link TurnPausedError} if the turn ends here, and is resumed with the decision
   */
  waitFor(request: PendingRequest, wait: DecisionWait): Promise<JsonValue | undefined>;
  /**
   * A random text that is the same in each replay of the turn, for ids that are sent to the model and
   * that authors of results cannot guess.
   * @param call the tool call for which it is needed
   * @returns undefined within the step of that call, whose result is recorded, or if nothing is recorded
   */
  secret(call?: object): Promise<string | undefined>;
  /** True if the recorder has failed: another execution may continue the turn. */
  readonly isLost: boolean;
  /** True if the turn has a recorded step, by its name, when it runs again after it has failed. */
  keepsStep(name: string, error: unknown): boolean;
  /** True if the result of a tool call is a recorded one: its tool has not run in this execution. */
  isReplayed(callId: string): boolean;
  /** Adds model calls that were made within a tool call, to be recorded with it. */
  addModelCalls(callId: string, calls: readonly ModelCallRecord[]): void;
}

/** Writes the end of an operation as JSON, and reads it in a replay. */
export interface StepCodec<T> {
  /** Its JSON must not have the field `error` if the codec has {@link isEnd}. */
  readonly encode: (value: T) => JsonValue;
  readonly decode: (recorded: JsonValue) => T;
  /** True for an error that is an end of the operation. @default none is */
  readonly isEnd?: ((error: unknown) => boolean) | undefined;
}

/** A codec of values that are JSON. */
export function jsonStep<T>(): StepCodec<T> {
  return JSON_STEP as StepCodec<unknown> as StepCodec<T>;
}

const JSON_STEP: StepCodec<JsonValue> = { encode: (value) => value, decode: (value) => value };

/** Limits of the wait for a decision. */
export interface DecisionWait {
  /** Place of the tool call that it is about. */
  readonly place: string;
  /** Maximum in milliseconds, from the first time that the turn came here. */
  readonly timeout: number;
  readonly cancellation: Cancellable;
  /** Called before the end of the wait if no earlier execution of the turn has had the decision. */
  readonly onNew?: (() => void) | undefined;
}

/** A model, as the end of a chain calls it. */
export interface CallableModel {
  call(prompt: Prompt, run: ModelRun & Cancellable): Promise<ChatResponse>;
  stream(prompt: Prompt, run: ModelRun & Cancellable): Observable<ChatEvent>;
}

/** @throws {@link InvalidArgumentError} if a model in JavaScript has returned something else */
export function modelResult<T>(result: T, method: 'then' | 'subscribe'): T {
  if (hasMethods(result, [method])) return result;
  const rule =
    method === 'then'
      ? 'call(…) must return a promise of a ChatResponse: make it async'
      : 'stream(…) must return an Observable: wrap an async generator in from(…) of rxjs';
  throw new InvalidArgumentError(`the model: ${rule}; not ${describe(result)}`);
}

/** A model call of a turn. */
export interface ModelCallSite {
  readonly iteration: number;
  /** Its `isReplayed` is set before its first event. */
  readonly record: Mutable<ModelCallRecord>;
  /** Name of the model, for messages. */
  readonly name: string | undefined;
  readonly isTurnCancelled: () => boolean;
  /** The messages before the options of the model and its tools are added. */
  readonly prompt: Prompt;
  /** The advisors that made them of the request, the last one first, with what each has received. */
  readonly origins: () => readonly { readonly advisor: string; readonly received: Prompt }[];
}

/** Records nothing. */
export const LIVE: RunRecorder = {
  isRecording: false,
  isReplaying: false,
  step: (_, live) => live(undefined),
  sleep: (_, milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  model: (live) => live,
  nested: () => undefined,
  waitFor: async () => {
    throw new ChainError('a turn that is not recorded cannot wait for a decision');
  },
  secret: async () => undefined,
  isLost: false,
  keepsStep: () => false,
  isReplayed: () => false,
  addModelCalls: () => undefined,
};
