import assert from 'node:assert/strict';
import { runAdvisor } from '../../advisor/advisor-chain.js';
import type { Advisor, AdvisorChain } from '../../advisor/advisor.js';
import type { ChatClientRequest } from '../../advisor/chat-client-request.js';
import type { ChatEvent } from '../../chat/chat-event.js';
import { CancelledError } from '../../errors.js';
import { onAbort } from '../../internal/cancellation.js';
import { Observable, Subscriber } from '../../internal/rxjs.js';
import { sampleRequest, SCENARIOS, USER, type Scenario } from './scenarios.js';

/** An advisor under test. */
export interface AdvisorContract {
  /** Title of the tests. @default the name of the advisor */
  readonly name?: string;
  /** Returns a new advisor; called for each run. */
  readonly create: () => Advisor;
  /** Adds to a request what the advisor needs, such as a conversation id. */
  readonly request?: (request: ChatClientRequest) => ChatClientRequest;
  /**
   * Returns the effects of a run (memory, spans, log lines), which must be the same for call and
   * stream.
   */
  readonly observe?: () => unknown;
  /** The advisor may handle errors, such as retry and fallback. @default false */
  readonly handlesErrors?: boolean;
  /**
   * The advisor may answer without calling the rest of the chain, such as a cache or a guard.
   * @default false
   */
  readonly answersItself?: boolean;
  /** The advisor may replace the answer of the model, or the result of a tool. @default false */
  readonly changesAnswer?: boolean;
  /**
   * The advisor keeps data of several runs, such as counts, in fields of its own. @default false
   */
  readonly writesFields?: boolean;
  /** Time limit of a run in milliseconds. @default 1_500 */
  readonly timeout?: number;
}

/** Checks of a contract, by test title. */
export type Laws = Readonly<Record<string, (trial: Trial) => Promise<void>>>;

export type Mode = ChatClientRequest['mode'];
export const MODES: readonly Mode[] = ['call', 'stream'];

/** Calls back when the rest of the chain may emit its next event. */
export type Pace = (emitNext: () => void) => void;

/** Emits all events within the subscription. */
export const SYNCHRONOUS: Pace = (emitNext) => emitNext();

/** Emits each event in a task of its own. */
export const ASYNCHRONOUS: Pace = (emitNext) => void setImmediate(emitNext);

/** A scenario with a mode and a pace. */
export interface TrialCase {
  readonly scenario: Scenario;
  readonly mode: Mode;
  readonly pace: Pace;
  /** Prefix of error messages. */
  readonly title: string;
}

/** Every scenario in both modes, with a synchronous and an asynchronous rest of the chain. */
export function trialCases(scenarios: readonly Scenario[] = SCENARIOS): readonly TrialCase[] {
  return scenarios.flatMap((scenario) =>
    MODES.flatMap((mode) =>
      [SYNCHRONOUS, ASYNCHRONOUS].map((pace) => {
        return { scenario, mode, pace, title: `${mode}, ${scenario.name}` };
      }),
    ),
  );
}

/** Runs an advisor in front of a {@link ScenarioChain}. */
export class Trial {
  constructor(readonly contract: AdvisorContract) {}

  get timeout(): number {
    return this.contract.timeout ?? 1_500;
  }

  request(mode: Mode, user?: string): ChatClientRequest {
    const request = sampleRequest(mode, user);
    return this.contract.request?.(request) ?? request;
  }

  /** Runs an advisor, by default a new one, to its end. */
  async run(
    scenario: Scenario,
    request: ChatClientRequest,
    pace: Pace = ASYNCHRONOUS,
    advisor = this.contract.create(),
  ): Promise<{ readonly outcome: Recording; readonly chain: ScenarioChain }> {
    const chain = new ScenarioChain([advisor], scenario, pace);
    const recording = new Recording(runAdvisor(advisor, request, chain));
    return { outcome: await recording.outcome(this.timeout), chain };
  }
}

/** One subscription of the rest of the chain. */
export interface ChainRun {
  readonly request: ChatClientRequest;
  isOpen: boolean;
  /** True if all events were emitted. */
  isFinished: boolean;
}

/** A rest of the chain that emits the events of a scenario, and records its requests. */
export class ScenarioChain implements AdvisorChain {
  readonly runs: ChainRun[] = [];

  constructor(
    readonly advisors: readonly Advisor[],
    private readonly scenario: Scenario,
    private readonly pace: Pace = ASYNCHRONOUS,
  ) {}

  readonly next = (request: ChatClientRequest): Observable<ChatEvent> =>
    new Observable((subscriber) => {
      const run: ChainRun = { request, isOpen: true, isFinished: false };
      const cancel = (): void =>
        subscriber.error(new CancelledError('The signal of the request aborted.'));
      this.runs.push(run);
      subscriber.add(() => (run.isOpen = false));
      subscriber.add(onAbort(request.signal, cancel));
      this.emitEvents(run, subscriber);
    });

  private emitEvents(run: ChainRun, subscriber: Subscriber<ChatEvent>): void {
    const { request } = run;
    const events = this.scenario
      .eventsFor(request, request.context.get(USER))
      .filter((event) => request.mode === 'stream' || !isDelta(event));
    const emitFrom = (index: number): void => {
      const event = events[index];
      if (subscriber.closed) return;
      if (event) {
        subscriber.next(event);
        this.pace(() => emitFrom(index + 1));
        return;
      }
      run.isFinished = true;
      if ('error' in this.scenario) subscriber.error(this.scenario.error);
      else subscriber.complete();
    };
    this.pace(() => emitFrom(0));
  }
}

/** Returns true for an event of streams only. */
export function isDelta(event: ChatEvent): boolean {
  return event.type.endsWith('-delta') || event.type === 'retract';
}

/** Records the events of one subscription of an advisor, and its end. */
export class Recording extends Subscriber<ChatEvent> {
  readonly events: ChatEvent[] = [];
  /** `none` until the end, and if it was unsubscribed. */
  end: 'complete' | 'error' | 'none' = 'none';
  failure: unknown;

  /** @param onEvent called after each event; may unsubscribe the recording */
  constructor(
    source: Observable<ChatEvent>,
    private readonly onEvent: (recording: Recording) => void = () => undefined,
  ) {
    super();
    this.add(source.subscribe(this));
  }

  /** Waits for the end, and fails if it does not come in time. */
  async outcome(timeout: number): Promise<this> {
    const message = `the run did not end within ${timeout} ms`;
    const timer = setTimeout(() => this.error(new assert.AssertionError({ message })), timeout);
    await new Promise<void>((resolve) => this.add(resolve));
    clearTimeout(timer);
    if (this.failure instanceof assert.AssertionError) throw this.failure;
    return this;
  }

  protected override _next(event: ChatEvent): void {
    this.events.push(event);
    this.onEvent(this);
  }

  protected override _error(error: unknown): void {
    this.end = 'error';
    this.failure = error;
    this.unsubscribe();
  }

  protected override _complete(): void {
    this.end = 'complete';
    this.unsubscribe();
  }
}

/** A promise that resolves when it is opened. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Waits until all work that is ready has run. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}
