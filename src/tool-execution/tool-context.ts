import type { ToolContextValues } from '../chat/chat-options.js';
import { CONVERSATION_ID, ContextKey, type AdvisorContext } from '../chat/context.js';
import type { ToolCall } from '../chat/message.js';
import { RunRecord } from '../chat/run-record.js';
import { InvalidArgumentError } from '../errors.js';
import { cancellationOf, type Cancellable, type Cancellation } from '../internal/cancellation.js';
import { describe, sha256Hex } from '../internal/text.js';
import type { ToolContext } from '../tool/tool.js';
import { argumentsKey } from './call-arguments.js';
import { askOf } from './tool-questions.js';
import type { Batch } from './tool-run.js';

/** Emits the events of a tool. */
export interface ToolEmitter extends Pick<ToolContext, 'progress' | 'emit'> {
  /** Stops the time limit of the tool while it waits for a person. @default there is none */
  hold?<T>(answer: Promise<T>): Promise<T>;
}

/**
 * The context of a call. Its `ask`, its signal and its key are created on access. They are properties of
 * the object, since advisors copy contexts by a spread, with getters that all contexts share: an
 * object literal with getters would get a hidden class of its own, which keeps it from being freed.
 */
export class CallContext implements ToolContext {
  readonly values: ToolContextValues;
  readonly advisorContext: AdvisorContext;
  readonly get: ToolContext['get'];
  readonly progress: ToolContext['progress'];
  readonly emit: ToolContext['emit'];
  declare readonly ask: ToolContext['ask'];
  declare readonly signal: AbortSignal;
  declare readonly idempotencyKey: string;
  readonly #batch: Batch;
  readonly #cancellation: Cancellable;
  readonly #emitter: ToolEmitter;
  #ask: ToolContext['ask'] | undefined;
  /** The context of the call as the model wrote it: another call may have the arguments of this one. */
  #edited: CallContext | undefined;

  constructor(
    readonly call: ToolCall,
    batch: Batch,
    cancellation: Cancellable,
    emitter: ToolEmitter,
  ) {
    const { values } = batch;
    this.values = values;
    this.advisorContext = batch.advisorContext;
    this.get = ({ name, defaultValue }) =>
      Object.hasOwn(values, name) ? (values[name] as typeof defaultValue) : defaultValue;
    this.progress = emitter.progress;
    this.emit = emitter.emit;
    this.#emitter = emitter;
    this.#batch = batch;
    this.#cancellation = cancellation;
    Object.defineProperties(this, CallContext.LAZY);
  }

  private static readonly LAZY: PropertyDescriptorMap & ThisType<CallContext> = {
    ask: {
      enumerable: true,
      get() {
        return (this.#ask ??= askOf(this, RunRecord.owning(this.#cancellation), this.#emitter));
      },
    },
    signal: {
      enumerable: true,
      get() {
        return this.#cancellation.signal;
      },
    },
    idempotencyKey: {
      enumerable: true,
      get() {
        return this.#edited
          ? sha256Hex(JSON.stringify([this.#edited.idempotencyKey, argumentsKey(this.call)]))
          : idempotencyKey(this.call, this.#batch);
      },
    },
  };

  /** A context for one attempt; of a context that an advisor created, a copy. */
  static withLimit(
    context: ToolContext,
    cancellation: Cancellation,
    emitter: ToolEmitter,
  ): ToolContext {
    return #batch in context
      ? context.#with(cancellation, emitter)
      : withSignal(context, cancellation.signal, emitter);
  }

  /** The context of the call with other arguments: those of the model must not reach the tool. */
  static withCall(context: ToolContext, call: ToolCall): ToolContext {
    if (!(#batch in context)) return { ...context, call };
    const { progress, emit } = context;
    const own = new CallContext(call, context.#batch, context.#cancellation, { progress, emit });
    own.#edited = context;
    return own;
  }

  /** The `ask` of a context, if something has read it: no question was asked by another. */
  static askOf(context: ToolContext): ToolContext['ask'] | undefined {
    return #batch in context ? context.#ask : context.ask;
  }

  /** Number of the model's answer within the turn that the call belongs to, from 0. */
  static iterationOf(context: ToolContext): number {
    return (#batch in context && context.#batch.run.iteration) || 0;
  }

  /** The context of the call as the model wrote it, also of one with other arguments. */
  static originOf(context: ToolContext): ToolContext {
    return #batch in context && context.#edited ? CallContext.originOf(context.#edited) : context;
  }

  /** The calls of the batch that the call belongs to. */
  static batchOf(context: ToolContext): readonly ToolCall[] {
    return #batch in context ? context.#batch.calls : [];
  }

  #with(cancellation: Cancellation, emitter: ToolEmitter): CallContext {
    const own = new CallContext(this.call, this.#batch, cancellation, emitter);
    own.#edited = this.#edited;
    return own;
  }

  static cancellationOf(context: ToolContext): Cancellable {
    return #cancellation in context ? context.#cancellation : cancellationOf(context.signal);
  }
}

function withSignal(context: ToolContext, signal: AbortSignal, emitter: ToolEmitter): ToolContext {
  const ask: ToolContext['ask'] = (schema, prompt) => {
    const answer = context.ask(schema, prompt);
    return emitter.hold ? emitter.hold(answer) : answer;
  };
  const { progress, emit } = emitter;
  return { ...context, signal, progress, emit, ask };
}

/**
 * Hashes the conversation, the turn, the tool, the arguments as the model wrote them (as values), and
 * the number of the call among equal ones. The id of the call is left out: a provider makes another
 * one when the turn runs again.
 */
export function idempotencyKey(
  call: ToolCall,
  batch: Pick<Batch, 'advisorContext' | 'turn' | 'numberOf'>,
): string {
  const conversation = batch.advisorContext.get(CONVERSATION_ID) ?? null;
  const parts = [conversation, batch.turn.id, call.name, argumentsKey(call), batch.numberOf(call)];
  return sha256Hex(JSON.stringify(parts));
}

/** Values for tools by name, or one value under the name of a key, with the key's type. */
export type ToolContextInput<T> =
  readonly [values: ToolContextValues] | readonly [key: ContextKey<T>, value: NonNullable<T>];

/** @throws {@link InvalidArgumentError} if the value or the key of a pair is missing */
export function toolContextValues(
  input: ToolContextInput<unknown>,
  where: string,
): ToolContextValues {
  const [first] = input;
  if (input.length < 2 && !(first instanceof ContextKey)) return first;
  if (typeof first?.name === 'string' && input.length === 2) return { [first.name]: input[1] };
  throw new InvalidArgumentError(
    `${where}: expected a ContextKey and its value, or an object of named values, not ${describe(first)}`,
  );
}
