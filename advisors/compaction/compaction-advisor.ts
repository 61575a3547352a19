import type { Advisor, AdvisorChain, InspectedState } from '../../src/core/advisor/advisor.js';
import {
  isCancelled,
  runAttempts,
  type AttemptEnd,
  type NextAttempt,
} from '../../src/core/advisor/attempts.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { isCutOff, type ChatResponse } from '../../src/core/chat/chat-response.js';
import { modelCallError } from '../../src/core/chat/run-record.js';
import { RunSlot } from '../../src/core/chat/context.js';
import { checkCompactionOptions, type CompactionAdvisorOptions } from './compaction-options.js';
import { KeptSummaries } from './kept-summaries.js';
import { RunCompaction, type CompactedRequest, type CompactionReport } from './run-compaction.js';
import { OffloadedResults } from './offloaded-results.js';
import { TokenMeter } from '../../src/core/advisor/token-meter.js';
import { cancelledError } from '../../src/core/internal/cancellation.js';
import { Observable, type Subscriber } from '../../src/core/internal/rxjs.js';

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    compaction: CompactionReport;
  }
}

/**
 * Keeps each model call under a number of input tokens: clears old tool results, then summarizes or
 * removes what is oldest. The turn continues with the shortened conversation; a memory stores no
 * summary. If the provider refuses a request as too long, it is shortened and sent again, once.
 */
export class CompactionAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['rewrites-transcript', 'retries'] as const;
  readonly adviseToolCall?: NonNullable<Advisor['adviseToolCall']>;
  private readonly meter: TokenMeter;
  private readonly offloaded: OffloadedResults | undefined;
  private readonly kept = new KeptSummaries();
  private readonly runs = new RunSlot<RunCompaction>();

  /** @throws {@link InvalidArgumentError} if an option is missing or out of range */
  constructor(private readonly options: CompactionAdvisorOptions) {
    ({ name: this.name, order: this.order } = checkCompactionOptions(options));
    this.meter = new TokenMeter(options.tokenCounter, 'CompactionAdvisor');
    const { offload } = options;
    if (!offload) return;
    const offloaded = (this.offloaded = new OffloadedResults('CompactionAdvisor', offload));
    const excluded = new Set(options.excludeTools);
    this.adviseToolCall = (call, next) =>
      excluded.has(call.tool.definition.name) ? next(call) : offloaded.offloadResult(call, next);
  }

  advise(original: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const run = this.runOf(original);
      const restored = run.restore(original);
      const request = this.offloaded?.offer(restored) ?? restored;
      const send = (fitting: ChatClientRequest): void => this.send(fitting, run, chain, subscriber);
      if (!run.isTooLong(run.estimate(request))) return send(request);
      subscriber.add(
        request.cancellation.onCancel((cause) => subscriber.error(cancelledError(cause))),
      );
      const shortened = run.shorten(request, original.prompt).then((compacted) => {
        if (!subscriber.closed) send(report(compacted, subscriber));
      });
      request.run.track(shortened.catch((error: unknown) => subscriber.error(error)));
    });
  }

  /** Sends a request, and a shorter one if the provider refuses it as too long. */
  private send(
    request: ChatClientRequest,
    run: RunCompaction,
    chain: AdvisorChain,
    subscriber: Subscriber<ChatEvent>,
  ): void {
    const estimate = run.estimate(request);
    let mayRepeat = true;
    const next = (end: AttemptEnd): NextAttempt | undefined | Promise<NextAttempt | undefined> => {
      if (mayRepeat && isOverflow(end, request, run.isLarge(estimate))) {
        mayRepeat = false;
        return run
          .shortenRefused(request)
          .then((compacted) => compacted && { request: report(compacted, subscriber) });
      }
      // a second attempt had another estimate
      if (mayRepeat) run.learn(estimate, end.response?.usage?.inputTokens);
      return undefined;
    };
    runAttempts(chain, request, () => ({ first: request, next })).subscribe(subscriber);
  }

  /** The limit and the measured size of tokens of the turn, and the `summaries` of its conversation. */
  inspect(request: ChatClientRequest): InspectedState {
    const { maxTokens, clearTo = 0.5 } = this.options;
    const turn = this.runs.get(request.run)?.inspect();
    return inspectedState({ maxTokens, clearTo, ...turn, summaries: this.kept.of(request) });
  }

  private runOf(request: ChatClientRequest): RunCompaction {
    const { options, meter, offloaded, kept, runs } = this;
    const known = runs.get(request.run);
    return (
      known ?? runs.set(request.run, new RunCompaction(options, meter, offloaded, kept, request))
    );
  }
}

function report(
  { request, report: data }: CompactedRequest,
  subscriber: Subscriber<ChatEvent>,
): ChatClientRequest {
  subscriber.next({ type: 'custom', name: 'compaction', data });
  return request;
}

/** True if the request, or the request and its answer, were longer than the context of the model. */
function isOverflow(
  { error, response }: AttemptEnd,
  { prompt }: ChatClientRequest,
  isLarge: boolean,
): boolean {
  if (!response) return !isCancelled(error) && modelCallError(error)?.contextOverflow === true;
  if (response.hasFinishReason('model_context_window_exceeded')) return isEmpty(response);
  const { result } = response;
  // a short request, or one with a limit of its own, has ended there
  const isFull = isLarge && prompt.options.maxTokens === undefined;
  return isFull && result !== undefined && isCutOff(result) && isEmpty(response);
}

/** True without an answer, also if the model was thinking. */
function isEmpty(response: ChatResponse): boolean {
  return !response.text && !response.hasToolCalls();
}
