import type { ToolContextValues } from '../chat/chat-options.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import type { ToolCall } from '../chat/message.js';
import { RunRecord } from '../chat/run-record.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { cancellationOf, type Cancellable, type Cancellation } from '../internal/cancellation.js';
import { describe } from '../errors/describe.js';
import type { ToolContext } from '../tool/tool.js';
import { askOf, questionsOf, type ToolQuestions } from './tool-questions.js';

/** Emits the events of a tool. */
export interface ToolEmitter extends Pick<ToolContext, 'progress' | 'emit'> {
  /** Stops the time limit of the tool while it waits for a person. @default there is none */
  hold?<T>(answer: Promise<T>): Promise<T>;
}

/** A call as the model wrote it, for its contexts. */
export interface OriginalCall {
  readonly call: ToolCall;
  readonly batch: {
    readonly values: ToolContextValues;
    readonly advisorContext: AdvisorContext;
    readonly calls: readonly ToolCall[];
    /** Number of the model's answer within the turn, from 0. */
    readonly iteration: number;
    readonly record: RunRecord;
    /** @param before the key of the call, if its arguments were replaced */
    keyOf(call: ToolCall, before?: string): string;
  };
  /** The latest run of the tool, also in the execution that was recorded. */
  toolRun: 'none' | 'called' | 'failed';
}

/** A property that copies of a context have, too. */
const ORIGIN = Symbol('call');

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
  readonly [ORIGIN]: OriginalCall;
  readonly #cancellation: Cancellable;
  readonly #emitter: ToolEmitter;
  #ask: ToolContext['ask'] | undefined;
  /** The context of the call before its arguments were replaced. */
  #edited: CallContext | undefined;

  constructor(
    readonly call: ToolCall,
    origin: OriginalCall,
    cancellation: Cancellable,
    emitter: ToolEmitter,
  ) {
    const { values, advisorContext } = origin.batch;
    this.values = values;
    this.advisorContext = advisorContext;
    this.get = ({ name, defaultValue }) =>
      Object.hasOwn(values, name) ? (values[name] as typeof defaultValue) : defaultValue;
    this.progress = emitter.progress;
    this.emit = emitter.emit;
    this.#emitter = emitter;
    this[ORIGIN] = origin;
    this.#cancellation = cancellation;
    Object.defineProperties(this, CallContext.LAZY);
  }

  private static readonly LAZY: PropertyDescriptorMap & ThisType<CallContext> = {
    ask: {
      enumerable: true,
      get() {
        return (this.#ask ??= askOf(this, runOf(this), this.#emitter));
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
        return this[ORIGIN].batch.keyOf(this.call, this.#edited?.idempotencyKey);
      },
    },
  };

  /** A context for one attempt; of a context that an advisor created, a copy. */
  static withLimit(
    context: ToolContext,
    cancellation: Cancellation,
    emitter: ToolEmitter,
  ): ToolContext {
    return #emitter in context
      ? context.#with(cancellation, emitter)
      : withSignal(context, cancellation.signal, emitter);
  }

  /** The context of the call with other arguments: the model's must not reach the tool. */
  static withCall(context: ToolContext, call: ToolCall): ToolContext {
    if (!(#emitter in context)) return { ...context, call };
    const { progress, emit } = context;
    const own = new CallContext(call, context[ORIGIN], context.#cancellation, { progress, emit });
    own.#edited = context;
    return own;
  }

  /** Undefined if nothing has read the `ask` of the context: then it has no questions. */
  static questionsOf(context: ToolContext): ToolQuestions | undefined {
    const ask = #emitter in context ? context.#ask : context.ask;
    return ask && questionsOf(ask);
  }

  #with(cancellation: Cancellation, emitter: ToolEmitter): CallContext {
    const own = new CallContext(this.call, this[ORIGIN], cancellation, emitter);
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

/** Undefined for a context that is not a copy of the call's. */
export function originOf(context: ToolContext): OriginalCall | undefined {
  return (context as Partial<CallContext>)[ORIGIN];
}

/** The run of a call, whatever signal an advisor has given it; undefined if it belongs to none. */
export function runOf(context: ToolContext): RunRecord | undefined {
  return originOf(context)?.batch.record ?? RunRecord.of(context.signal);
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
