import type { TranscriptChange } from '../../src/core/advisor/transcript.js';
import type { Message, ToolMessage } from '../../src/core/chat/message.js';
import { ModelCallError } from '../../src/core/errors/errors.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { truncateText } from '../../src/core/internal/text.js';
import { latestIterations, messagesOf, type Piece, type Split } from './pieces.js';
import {
  clearResults,
  cutResults,
  replaceResults,
  type HintOf,
  type Replacements,
} from './shorten-results.js';
import {
  chooseCut,
  insertSummary,
  removedBy,
  toSummaryMessage,
  type Cut,
} from './place-summary.js';
import type { TokenMeter } from '../../src/core/advisor/token-meter.js';
import { writeOutline } from './write-summary.js';

/** A way to shorten a conversation, in the order in which they are tried; `cut` only if it must be. */
export type CompactionStrategy = 'clear' | 'offload' | 'summarize' | 'remove' | 'cut';

/** A strategy that failed; the next one was tried. */
export interface CompactionFailure {
  readonly strategy: CompactionStrategy;
  readonly error: unknown;
}

/** Settings of a {@link Compactor}. */
export interface CompactorSettings {
  readonly meter: TokenMeter;
  readonly split: Split;
  readonly keepIterations: number;
  readonly excludeTools: ReadonlySet<string>;
  readonly hintOf: HintOf;
  /** Keeps a result in a store; absent without one. */
  readonly offload?: ((result: ToolMessage) => Promise<ToolMessage>) | undefined;
  /** Tokens of the request besides its messages. */
  readonly schemas: number;
  /** Maximum number of tokens of the request. */
  readonly max: number;
  /** Number of tokens of the request at which no further strategy is tried. */
  readonly target: number;
  /**
   * For the first request of a turn, of which the next turn may load everything again: the number of
   * tokens of which a multiple is cleared. @default as many as reach the target
   */
  readonly step?: number | undefined;
  /** Writes a summary of a number of tokens at most; absent without a model. */
  readonly summarize?:
    ((messages: readonly Message[], size: number) => Promise<string>) | undefined;
}

/** Share of the maximum that a summary may have. */
const SUMMARY_SHARE = 0.1;
/** Characters per token of an outline. */
const CHARACTERS = 3;

/** Applies the strategies to one request until it has the number of tokens wanted. */
export class Compactor {
  readonly strategies: CompactionStrategy[] = [];
  readonly failures: CompactionFailure[] = [];
  pieces: readonly Piece[];
  /** Tokens of the request. */
  tokens: number;
  private readonly changes: TranscriptChange[] = [];
  /** The results that were shortened in this step, for the summary. */
  private readonly originals = new Map<Message, Message>();

  constructor(
    private messages: readonly Message[],
    private readonly settings: CompactorSettings,
  ) {
    this.pieces = settings.split(messages);
    this.tokens = settings.schemas + settings.meter.ofAll(messages);
  }

  /** All changes so far, for the transcript and for views of it. */
  get change(): TranscriptChange {
    const changes = [...this.changes];
    return (messages) => changes.reduce((list, change) => change(list), messages);
  }

  /** Applies the strategies in order until the target is reached. */
  async compact(): Promise<void> {
    const { max, target } = this.settings;
    const goal = this.goalOfClear;
    this.clearUntil(this.settings.keepIterations, goal);
    if (this.tokens <= goal) return;
    await this.offloadKept();
    const isDone = (): boolean => this.tokens <= target;
    if (!isDone()) await this.summarize();
    // what has just been summarized must not become an outline
    if (!isDone() && !this.strategies.includes('summarize')) this.remove();
    if (this.tokens > max) this.clearUntil(1, max);
    const rest = this.tokens - this.tokensOf(this.latestResults);
    if (this.tokens > max) await this.cutLatest(max - rest);
  }

  /** Cuts new results that leave no room for anything else; no request had them so far. */
  async cutNew(): Promise<void> {
    await this.cutLatest(this.settings.max - this.settings.target);
  }

  /** By whole steps: several turns clear the same of what a memory loads, and their prefix stays. */
  private get goalOfClear(): number {
    const { max, target, step } = this.settings;
    const excess = this.tokens - (max + target) / 2;
    return step ? this.tokens - Math.ceil(excess / step) * step : target;
  }

  /** @param kept number of the latest iterations whose results stay */
  private clearUntil(kept: number, target: number): void {
    const { meter, hintOf } = this.settings;
    const latest = latestIterations(this.pieces, kept);
    const results = this.resultsOf(this.pieces.filter((piece) => !latest.has(piece)));
    this.replace('clear', clearResults(results, this.tokens - target, meter, hintOf));
  }

  /** Offloads what was not cleared, except for the last iteration. */
  private async offloadKept(): Promise<void> {
    const latest = latestIterations(this.pieces, 1);
    const results = this.resultsOf(this.pieces.filter((piece) => !latest.has(piece)));
    await this.offload(results, this.tokens - this.settings.target);
  }

  /** Reduces the results of the last iteration to a number of tokens. */
  private async cutLatest(tokens: number): Promise<void> {
    const { meter } = this.settings;
    await this.offload(this.latestResults, this.tokensOf(this.latestResults) - tokens);
    this.replace('cut', cutResults(this.latestResults, tokens, meter));
  }

  /** Offloads the largest results until enough tokens are saved. */
  private async offload(results: readonly ToolMessage[], excess: number): Promise<void> {
    const { offload, meter } = this.settings;
    if (!offload) return;
    const replaced = new Map<ToolMessage, ToolMessage>();
    let saved = 0;
    try {
      for (const result of results.toSorted((a, b) => meter.of(b) - meter.of(a))) {
        if (saved >= excess) break;
        const other = Object.freeze(await offload(result));
        if (other === result) continue;
        replaced.set(result, other);
        saved += meter.of(result) - meter.of(other);
      }
    } catch (error) {
      this.failures.push({ strategy: 'offload', error });
    }
    this.replace('offload', replaced);
  }

  private async summarize(): Promise<void> {
    const { summarize, meter } = this.settings;
    const cut = summarize && this.chooseCut();
    if (!cut) return;
    const removed = this.removedMessages(cut);
    try {
      const text = await summarize(
        removed.map((each) => this.originals.get(each) ?? each),
        this.summarySize,
      );
      const size = meter.of({ role: 'user', content: text });
      if (size >= meter.ofAll(removed))
        throw new ModelCallError('The summary is longer than the summarized messages.');
      // models write more than they are asked for; twice as much leaves room for the turn
      const length = Math.floor((text.length * 2 * this.summarySize) / size);
      this.insert('summarize', toSummaryMessage(truncateText(text, length), this.pieces, cut));
    } catch (error) {
      if (hasCode(error, 'cancelled')) throw error;
      this.failures.push({ strategy: 'summarize', error });
    }
  }

  private remove(): void {
    const cut = this.chooseCut();
    if (!cut) return;
    const text = writeOutline(this.removedMessages(cut), this.summarySize * CHARACTERS);
    this.insert('remove', toSummaryMessage(text, this.pieces, cut));
  }

  private get summarySize(): number {
    return Math.ceil(this.settings.max * SUMMARY_SHARE);
  }

  /** The smallest cut after which the target is reached, or else the largest one. */
  private chooseCut(): Cut | undefined {
    const { schemas, target, keepIterations } = this.settings;
    const excess = this.loadedSize(this.messages) + schemas + this.summarySize - target;
    return chooseCut(
      this.pieces,
      latestIterations(this.pieces, keepIterations),
      (cut) => this.loadedSize(this.removedMessages(cut)) >= excess,
    );
  }

  /** Tokens of messages as a memory loads them again in the next turn. */
  private loadedSize(messages: readonly Message[]): number {
    const loads = (each: Message): Message =>
      (this.settings.step && this.originals.get(each)) || each;
    return this.tokensOf(messages.map(loads));
  }

  private removedMessages(cut: Cut): readonly Message[] {
    return messagesOf([...removedBy(cut, this.pieces)]);
  }

  private insert(strategy: CompactionStrategy, summary: Message): void {
    const { split } = this.settings;
    this.apply(strategy, (messages) => insertSummary(messages, summary, split));
  }

  private replace(strategy: CompactionStrategy, replaced: Replacements): void {
    if (replaced.size === 0) return;
    for (const [old, other] of replaced) this.originals.set(other, this.originals.get(old) ?? old);
    this.apply(strategy, replaceResults(replaced));
  }

  private apply(strategy: CompactionStrategy, change: TranscriptChange): void {
    const { split, meter, schemas } = this.settings;
    this.changes.push(change);
    if (!this.strategies.includes(strategy)) this.strategies.push(strategy);
    this.messages = change(this.messages);
    this.pieces = split(this.messages);
    this.tokens = schemas + meter.ofAll(this.messages);
  }

  private get latestResults(): readonly ToolMessage[] {
    return this.resultsOf([...latestIterations(this.pieces, 1)]);
  }

  private resultsOf(pieces: readonly Piece[]): readonly ToolMessage[] {
    return messagesOf(pieces).filter(
      (message): message is ToolMessage =>
        message.role === 'tool' && !this.settings.excludeTools.has(message.toolName),
    );
  }

  private tokensOf(messages: readonly Message[]): number {
    return this.settings.meter.ofAll(messages);
  }
}
