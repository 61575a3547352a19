import { onAbort } from '../chat/abort.js';
import { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import type { Observation } from '../chat/observation.js';
import type { Turn } from '../chat/turn.js';
import type { CallCounts } from './call-limits.js';
import type { Tool, ToolCallWrapper } from './tool.js';

/** What a batch runs with; everything is optional, so that a loop by hand needs a prompt and a response only. */
export interface ToolRun {
  /** Tools that may run. @default the tools of the prompt's options */
  readonly tools?: readonly Tool[] | undefined;
  /** Tools that are offered, for the message about an unknown one. @default `tools` */
  readonly offered?: readonly Tool[] | undefined;
  /** @default the tool context of the prompt's options */
  readonly toolContext?: ToolContextValues | undefined;
  readonly advisorContext?: AdvisorContext | undefined;
  /** The turn, for idempotency keys. @default one of its own for each batch */
  readonly turn?: Turn | undefined;
  /** What watches the part of the run that the calls are in; told of each call. */
  readonly observation?: Observation | undefined;
  /** Number of the answer with the calls within the turn, from 0; for those who watch. */
  readonly iteration?: number | undefined;
  /** Aborts the tools; what has not begun is not run, and each call still gets a result. */
  readonly signal?: AbortSignal | undefined;
  /** Goes around each call. */
  readonly wrap?: ToolCallWrapper | undefined;
  /** Hears `tool-call`, `tool-progress` and `tool-result` as they happen. */
  readonly onEvent?: ((event: ChatEvent) => void) | undefined;
  /** Given to the model in place of every result; no tool runs. */
  readonly refuse?: string | undefined;
  /** Calls of the turn so far, counted on. @default counted in the prompt */
  readonly counts?: CallCounts | undefined;
}

const CANCELLATION = Symbol('cancellation');

/**
 * A run that a cancellation ends. Its signal is made only if somebody asks for it: to make one costs more than the rest of the
 * run. A manager of others may hand a copy on; that has no such signal, but the cancellation still ends it.
 */
export class CancellableRun implements ToolRun {
  readonly [CANCELLATION]: Cancellation;
  readonly tools: ToolRun['tools'];
  readonly offered: ToolRun['offered'];
  readonly toolContext: ToolRun['toolContext'];
  readonly advisorContext: ToolRun['advisorContext'];
  readonly turn: ToolRun['turn'];
  readonly observation: ToolRun['observation'];
  readonly iteration: ToolRun['iteration'];
  readonly wrap: ToolRun['wrap'];
  readonly onEvent: ToolRun['onEvent'];
  readonly refuse: ToolRun['refuse'];
  readonly counts: ToolRun['counts'];

  constructor(cancellation: Cancellation, run: Omit<ToolRun, 'signal'>) {
    this[CANCELLATION] = cancellation;
    this.tools = run.tools;
    this.offered = run.offered;
    this.toolContext = run.toolContext;
    this.advisorContext = run.advisorContext;
    this.turn = run.turn;
    this.observation = run.observation;
    this.iteration = run.iteration;
    this.wrap = run.wrap;
    this.onEvent = run.onEvent;
    this.refuse = run.refuse;
    this.counts = run.counts;
  }

  get signal(): AbortSignal {
    return this[CANCELLATION].signal;
  }
}

/** What ends a run, and how to stop listening to its signal. */
export interface RunEnd {
  readonly cancellation: Cancellation;
  readonly release?: () => void;
}

/** What ends a run: its cancellation or, where it is one of others or a copy with a signal of its own, its signal. */
export function endOf(run: ToolRun & Partial<Pick<CancellableRun, typeof CANCELLATION>>): RunEnd {
  const own = run[CANCELLATION];
  if (own && (run instanceof CancellableRun || !run.signal)) return { cancellation: own };
  const cancellation = new Cancellation();
  const { signal } = run;
  if (!signal) return { cancellation };
  const releases = [own?.onCancel((reason) => cancellation.cancel(reason)), onAbort(signal, () => cancellation.cancel(signal.reason))];
  return { cancellation, release: () => releases.forEach((release) => release?.()) };
}
