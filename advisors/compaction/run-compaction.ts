import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { TranscriptChange } from '../../src/core/advisor/transcript.js';
import { textOf, type Message } from '../../src/core/chat/message.js';
import type { MessageFold, Prompt } from '../../src/core/chat/prompt.js';
import type { CompactionAdvisorOptions } from './compaction-options.js';
import type { OffloadedResults } from './offloaded-results.js';
import type { HintOf } from './shorten-results.js';
import {
  Compactor,
  type CompactionFailure,
  type CompactionStrategy,
  type CompactorSettings,
} from './compactor.js';
import { oversizeError } from './oversize.js';
import { splitBy, type Split } from './pieces.js';
import type { KeptSummaries } from './kept-summaries.js';
import { applyKept } from './place-summary.js';
import { isSummary } from './summary.js';
import type { TokenMeter } from '../../src/core/advisor/token-meter.js';
import { writeSummary } from './write-summary.js';

/** Data of the event `compaction`. Tokens are estimates, corrected by the usage of earlier calls. */
export interface CompactionReport {
  /** `limit`: the request was over `maxTokens`; `overflow`: the provider refused it as too long. */
  readonly reason: 'limit' | 'overflow';
  /** Tokens of the request before. */
  readonly before: number;
  /** Tokens of the request that is sent. */
  readonly after: number;
  /** The strategies that shortened it, in order. */
  readonly strategies: readonly CompactionStrategy[];
  /** The strategies that failed. */
  readonly failures: readonly CompactionFailure[];
}

/** A shortened request, and the report about it. */
export interface CompactedRequest {
  readonly request: ChatClientRequest;
  readonly report: CompactionReport;
}

/** Bounds of the correction: some providers report the usage of a part of the request. */
const MIN_RATIO = 0.5;
const MAX_RATIO = 4;
/** Share of a refused request that the next one may have at most. */
const AFTER_OVERFLOW = 0.8;
/** Factor from one rounded correction to the next. */
const ROUNDING = 1.25;

const countSummaries: MessageFold<number> = (before = 0, added) =>
  before + added.filter(isSummary).length;

/** State of one run: the size of its requests, and the steps so far. */
export class RunCompaction {
  /** Reported tokens per estimated token. */
  private ratio: number;
  /** Maximum number of tokens; less after the provider has refused a request. */
  private max: number;
  /** The changes of views that other advisors make of the whole conversation in each iteration. */
  private readonly repeated: TranscriptChange[] = [];
  /** Changes by the prompt that they were made for: an attempt that is repeated needs no summary again. */
  private readonly known = new WeakMap<Prompt, TranscriptChange>();

  /** Summaries of earlier turns of the conversation. */
  private readonly earlier: readonly Message[];
  /** Name of the model, by which the correction of earlier runs is found. */
  private readonly model: string;

  constructor(
    private readonly options: CompactionAdvisorOptions,
    private readonly meter: TokenMeter,
    private readonly offloaded: OffloadedResults | undefined,
    private readonly kept: KeptSummaries,
    request: ChatClientRequest,
  ) {
    const { prompt, model } = request;
    this.model = prompt.options.model ?? model?.defaultOptions.model ?? '';
    this.earlier = kept.of(request);
    this.max = options.maxTokens;
    this.ratio = meter.ratioOf(this.model);
  }

  /** Tokens of a request by the counter alone. */
  estimate(request: ChatClientRequest): number {
    return this.meter.ofMessages(request) + this.meter.ofSchemas(request);
  }

  /** The request with earlier steps applied to what a memory has loaded. */
  restore(request: ChatClientRequest): ChatClientRequest {
    const { prompt, transcript } = request;
    const known = this.known.get(prompt);
    if (known) return request.withTranscript(known);
    const isView = transcript !== undefined && transcript !== prompt;
    const hasSummaries = this.earlier.length > 0 || prompt.fold(countSummaries) > 0;
    if (!hasSummaries && !(isView && this.repeated.length > 0)) return request;
    const split = this.splitOf(request);
    if (!isView)
      return request.withTranscript((messages) => applyKept(messages, this.earlier, split));
    // the transcript has the steps of this turn already
    const placed = applyKept(prompt.messages, this.earlier, split);
    const changed = this.repeated.reduce((list, change) => change(list), placed);
    return changed === prompt.messages ? request : request.withMessages(changed);
  }

  /** The state for an inspector: `maxTokens` is less after the provider has refused a request. */
  inspect() {
    return { maxTokens: Math.floor(this.max), tokensPerEstimate: this.ratio };
  }

  isTooLong(estimate: number): boolean {
    return estimate * this.ratio > this.max;
  }

  /** True if a step would shorten a request with this estimate. */
  isLarge(estimate: number): boolean {
    return estimate * this.ratio > this.max * (this.options.clearTo ?? 0.5);
  }

  /** @param tokens the input tokens of a request with this estimate, as the provider reports them */
  learn(estimate: number, tokens: number | undefined): void {
    if (!tokens || estimate <= 0) return;
    this.ratio = Math.min(MAX_RATIO, Math.max(MIN_RATIO, tokens / estimate));
    this.meter.learn(this.model, this.ratio);
  }

  /**
   * @param original the prompt before {@link restore}
   * @throws {@link LimitExceededError} if the request cannot be made short enough
   */
  async shorten(request: ChatClientRequest, original: Prompt): Promise<CompactedRequest> {
    const { clearTo = 0.5, maxTokens, model } = this.options;
    const summarize =
      model &&
      ((messages: readonly Message[], size: number): Promise<string> =>
        writeSummary(messages, { model, maxTokens, size, signal: request.signal }));
    const compactor = this.compactorOf(request, this.max, this.max * clearTo, {
      ...(request.iteration === 0 && { step: (this.max * (1 - clearTo)) / roundRatio(this.ratio) }),
      summarize,
    });
    const before = compactor.tokens;
    await compactor.cutNew();
    if (this.isTooLong(compactor.tokens)) await compactor.compact();
    if (this.isTooLong(compactor.tokens))
      throw oversizeError(compactor.pieces, {
        ...this.oversize(request),
        tokens: compactor.tokens * this.ratio,
      });
    const { change } = compactor;
    const split = this.splitOf(request);
    this.known.set(original, (messages) => change(applyKept(messages, this.earlier, split)));
    return this.commit(request, compactor, 'limit', before);
  }

  /** A shorter request after the provider has refused one; undefined if it cannot be shortened. */
  async shortenRefused(request: ChatClientRequest): Promise<CompactedRequest | undefined> {
    const refused = this.estimate(request) * this.ratio;
    const { clearTo = 0.5 } = this.options;
    const max = Math.min(this.max, refused * AFTER_OVERFLOW);
    const compactor = this.compactorOf(request, max, Math.min(this.max, refused) * clearTo);
    const before = compactor.tokens;
    await compactor.compact();
    if (compactor.tokens >= before) return undefined;
    this.max = max;
    return this.commit(request, compactor, 'overflow', before);
  }

  private compactorOf(
    request: ChatClientRequest,
    max: number,
    target: number,
    more: Pick<CompactorSettings, 'step' | 'summarize'> = {},
  ): Compactor {
    const { keepIterations = 3, excludeTools } = this.options;
    const { offloaded } = this;
    return new Compactor(request.prompt.messages, {
      meter: this.meter,
      split: this.splitOf(request),
      keepIterations,
      excludeTools: new Set(excludeTools),
      hintOf: this.hintsOf(request),
      offload: offloaded && ((result) => offloaded.offload(result, request)),
      schemas: this.schemasOf(request),
      max: max / this.ratio,
      target: target / this.ratio,
      ...more,
    });
  }

  /** With the tool that reads results, which a step may add. */
  private schemasOf(request: ChatClientRequest): number {
    const tool = this.offloaded?.tool;
    const schemas = this.meter.ofSchemas(request);
    return tool && !request.tools.includes(tool) ? schemas + this.meter.ofTool(tool) : schemas;
  }

  /** Only tools without an effect may be called again for a result. */
  private hintsOf({ tools }: ChatClientRequest): HintOf {
    const effects = new Map(tools.map((tool) => [tool.definition.name, tool.metadata.effect]));
    return ({ content, toolName }) =>
      this.offloaded?.noteIn(textOf(content)) ??
      (effects.get(toolName) === 'read' ? 'Call the tool again if it is needed.' : undefined);
  }

  private splitOf({ run }: ChatClientRequest): Split {
    const ownCalls = new Set(run.toolCalls.map(({ call }) => call.id));
    return splitBy(ownCalls, new Set(this.options.excludeTools));
  }

  private commit(
    request: ChatClientRequest,
    compactor: Compactor,
    reason: CompactionReport['reason'],
    before: number,
  ): CompactedRequest {
    const { change, strategies, failures, tokens } = compactor;
    const { prompt, transcript } = request;
    if (transcript && transcript !== prompt) this.repeated.push(change);
    const report: CompactionReport = {
      reason,
      before: Math.round(before * this.ratio),
      after: Math.round(tokens * this.ratio),
      strategies,
      failures,
    };
    const shortened = request.withTranscript(change);
    this.kept.addFrom(shortened);
    return { request: this.offloaded?.offer(shortened) ?? shortened, report };
  }

  private oversize(request: ChatClientRequest) {
    const { maxTokens } = this.options;
    return {
      maxTokens,
      schemas: this.schemasOf(request),
      meter: this.meter,
      ratio: this.ratio,
    };
  }
}

/** One of a few numbers near it: the usage of one call differs a little from the next one's. */
function roundRatio(ratio: number): number {
  return ROUNDING ** Math.round(Math.log(ratio) / Math.log(ROUNDING));
}
