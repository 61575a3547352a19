import type { ChatEvent } from '../chat/chat-event.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import { AdvisorContext, TurnId } from '../chat/context.js';
import type { ToolCall } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { RunRecord } from '../chat/run-record.js';
import { Cancellation, onAbort, ownerOf } from '../internal/cancellation.js';
import { notify } from '../internal/notify.js';
import { SharedTimeSlice } from '../internal/time-slice.js';
import type { Observation } from '../observation/observation.js';
import { toolsByName } from '../tool/check-tool.js';
import { isTool, type Tool, type ToolCallPreparer, type ToolCallWrapper } from '../tool/tool.js';
import type { CallCounts } from './call-limits.js';
import { callNumber, editedKey, idempotencyKey, type CallRound } from './call-identity.js';
import type { ManagerSettings } from './manager-options.js';

/** Options of one batch; a loop without an advisor chain needs none. */
export interface ToolRun {
  /** Tools that can run. @default the tools of the prompt's options */
  readonly tools?: readonly Tool[] | undefined;
  /** Tools that the model was offered: others are unknown to it. @default `tools` */
  readonly offered?: readonly Tool[] | undefined;
  /** Values for the tools. @default the tool context of the prompt's options */
  readonly toolContext?: ToolContextValues | undefined;
  /** Values for the advisors. @default none */
  readonly advisorContext?: AdvisorContext | undefined;
  /** Turn of the idempotency keys. @default a new turn for each batch */
  readonly turn?: TurnId | undefined;
  /** Observer of the part of the run that contains the calls. */
  readonly observation?: Observation | undefined;
  /** Number of the model's answer within the turn, from 0; for the observation. */
  readonly iteration?: number | undefined;
  /** Aborts the running tools; calls that have not started get an error result. */
  readonly signal?: AbortSignal | undefined;
  /** Prepares each call, all of the batch at once. */
  readonly prepare?: ToolCallPreparer | undefined;
  /** Wraps each call. */
  readonly wrap?: ToolCallWrapper | undefined;
  /** Receives `tool-call`, `tool-progress` and `tool-result`. */
  readonly onEvent?: ((event: ChatEvent) => void) | undefined;
  /** Replaces every result for the model; no tool runs. */
  readonly refuse?: string | undefined;
  /** Calls of the turn so far, updated by the batch. @default counted in the prompt */
  readonly counts?: CallCounts | undefined;
}

/** Settings of a manager for its batches. */
export interface BatchSettings extends ManagerSettings {
  /** Counts an abandoned call whose tool has ended. */
  readonly countAbandoned: () => void;
}

/** Settings and state that the calls of a batch share. */
export class Batch {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly values: ToolContextValues;
  readonly advisorContext: AdvisorContext;
  readonly turn: TurnId;
  /** The run of the calls; of a loop without an advisor chain, one of their own. */
  readonly record: RunRecord;
  /** For the conversion of results, which may be large and arrive together. */
  readonly slice = new SharedTimeSlice();
  private readonly earlier: number;

  constructor(
    readonly settings: BatchSettings,
    readonly prompt: Prompt,
    readonly calls: readonly ToolCall[],
    /** The calls of the turn, those before the batch first. */
    private readonly rounds: readonly CallRound[],
    readonly run: ToolRun,
    readonly cancellation: Cancellation,
  ) {
    const { options } = prompt;
    this.earlier = rounds.length;
    this.tools = toolsByName(run.tools ?? options.tools?.filter(isTool) ?? []);
    // a copy that no tool can change: the original may be the shared defaults of a client
    this.values = Object.freeze({ ...(run.toolContext ?? options.toolContext) });
    this.advisorContext = run.advisorContext ?? AdvisorContext.empty;
    this.turn = run.turn ?? new TurnId();
    this.record = RunRecord.owning(cancellation) ?? new RunRecord();
  }

  /** The tool of a call; undefined if the model was not offered it, such as a deferred one. */
  toolOf({ name }: ToolCall): Tool | undefined {
    const { offered } = this.run;
    // a manager may run another tool under the name of an offered definition
    return offered && !toolsByName(offered).has(name) ? undefined : this.tools.get(name);
  }

  emit(event: ChatEvent): void {
    const { run, cancellation } = this;
    if (run.onEvent && !cancellation.cancelled) notify(() => run.onEvent?.(this.marked(event)));
  }

  /** Marks the events of a recorded answer, and of recorded results. */
  private marked(event: ChatEvent): ChatEvent {
    if (event.type !== 'tool-call' && event.type !== 'tool-result') return event;
    const { answered, recorder } = this.record;
    const isReplayed =
      event.type === 'tool-call' ? answered?.isReplayed : recorder.isReplayed(event.call.id);
    return isReplayed ? { ...event, isReplayed } : event;
  }

  get iteration(): number {
    return this.run.iteration ?? 0;
  }

  /** Adds work that may outlive the batch, such as a tool that ignores its signal. */
  track(work: Promise<unknown>): void {
    this.record.track(work);
  }

  /**
   * The idempotency key of a call.
   * @param before key of the call as the model wrote it, if its arguments were replaced
   */
  keyOf(call: ToolCall, before?: string): string {
    if (before !== undefined) return editedKey(before, call);
    const number = callNumber(call, this.calls, this.rounds.slice(0, this.earlier));
    return idempotencyKey(call, number, this);
  }
}

/** Creates the signal on first access: creating one costs more than the rest of the run. */
class LazySignal {
  constructor(readonly cancellation: Cancellation) {}

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }
}

/**
 * A run that a cancellation ends. A copy of it, by a manager of the application, has no signal, but
 * the cancellation still ends it.
 */
export function cancellableRun(
  cancellation: Cancellation,
  run: Omit<ToolRun, 'signal'>,
): LazySignal & ToolRun {
  return Object.assign(new LazySignal(cancellation), run);
}

/** Returns the cancellation of a run, and a function that removes its listeners. */
export function cancellationOfRun(run: ToolRun & { readonly cancellation?: Cancellation }): {
  readonly cancellation: Cancellation;
  readonly release?: () => void;
} {
  const signal = run instanceof LazySignal ? undefined : run.signal;
  if (!signal) return { cancellation: run.cancellation ?? new Cancellation() };
  const cancellation = new Cancellation(undefined, run.cancellation?.owner ?? ownerOf(signal));
  const releases = [
    run.cancellation?.onCancel((reason) => cancellation.cancel(reason)),
    onAbort(signal, () => cancellation.cancel(signal.reason)),
  ];
  return { cancellation, release: () => releases.forEach((release) => release?.()) };
}
