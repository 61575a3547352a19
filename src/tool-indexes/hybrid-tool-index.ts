import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { checkIndexRequest, checkSearchRequest, DEFAULT_MAX_RESULTS } from '../tool-search/check-search.js';
import type { ToolIndex, ToolIndexRequest, ToolReference, ToolSearchRequest, ToolSearchResponse } from '../tool-search/tool-index.js';

/** Options of a {@link HybridToolIndex}. */
export interface HybridToolIndexOptions {
  /** The indexes that are asked, one or more. */
  readonly indexes: readonly ToolIndex[];
  /** What the word of each index counts, above 0, in their order. @default 1 for each */
  readonly weights?: readonly number[] | undefined;
  /** How little the first places of an answer count more than the later ones, above 0. @default 60 */
  readonly rankConstant?: number | undefined;
  /** Told of an index that failed while another one did its work. @default nobody */
  readonly onError?: ((error: unknown, index: ToolIndex) => void) | undefined;
}

/** An index finds by far more than is wanted, since what is third for two of them is better than what is first for one. */
const DEPTH = 4;

/**
 * Asks several indexes at the same time and joins their answers by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): what
 * stands high in several answers comes first. Their scores need not be comparable. Fails only where all of them fail.
 */
export class HybridToolIndex implements ToolIndex {
  private readonly members: readonly Member[];
  private readonly rankConstant: number;
  private readonly onError: NonNullable<HybridToolIndexOptions['onError']>;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor({ indexes, weights, rankConstant = 60, onError = () => undefined }: HybridToolIndexOptions) {
    if (!(indexes?.length > 0))
      throw new InvalidArgumentError(`HybridToolIndex: indexes must be a list of one index or more, not ${describe(indexes)}`);
    if (weights && (weights.length !== indexes.length || !weights.every((weight) => weight > 0)))
      throw new InvalidArgumentError('HybridToolIndex: weights must be a number above 0 for each index');
    if (!(rankConstant > 0))
      throw new InvalidArgumentError(`HybridToolIndex: rankConstant must be a number above 0, not ${describe(rankConstant)}`);
    if (typeof onError !== 'function')
      throw new InvalidArgumentError(`HybridToolIndex: onError must be a function, not ${describe(onError)}`);
    this.members = indexes.map((index, at) => new Member(index, weights?.[at] ?? 1));
    this.rankConstant = rankConstant;
    this.onError = onError;
  }

  /** @throws what the first index throws, if all fail; one that failed is tried again by the searches of the session */
  async index(request: ToolIndexRequest): Promise<void> {
    checkIndexRequest(request, 'HybridToolIndex.index');
    await this.ask((member) => member.index(request));
  }

  /** @throws what the first index throws, if all fail */
  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    checkSearchRequest(request, 'HybridToolIndex.search');
    const { maxResults = DEFAULT_MAX_RESULTS } = request;
    const deeper = { ...request, maxResults: maxResults * DEPTH };
    const answers = await this.ask(async (member) => ({ member, references: (await member.search(deeper)).references }));
    return { references: this.fuse(answers).slice(0, maxResults) };
  }

  /** @throws what the first index throws that fails */
  async clear(session: string): Promise<void> {
    await Promise.all(this.members.map((member) => member.clear(session)));
  }

  /** What those answer that do. */
  private async ask<T>(question: (member: Member) => Promise<T>): Promise<readonly T[]> {
    const settled = await Promise.allSettled(this.members.map(question));
    const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failures = settled.flatMap((one, at) => (one.status === 'rejected' ? [{ error: one.reason as unknown, at }] : []));
    if (answers.length === 0) throw failures[0]?.error;
    for (const { error, at } of failures) this.onError(error, (this.members[at] as Member).toolIndex);
    return answers;
  }

  private fuse(answers: readonly { readonly member: Member; readonly references: readonly ToolReference[] }[]): readonly ToolReference[] {
    const scores = new Map<string, { readonly reference: ToolReference; score: number }>();
    for (const { member, references } of answers)
      for (const [rank, reference] of references.entries()) {
        const key = JSON.stringify([reference.name, reference.description]);
        const entry = scores.get(key) ?? { reference, score: 0 };
        entry.score += member.weight / (this.rankConstant + rank + 1);
        scores.set(key, entry);
      }
    const fused = [...scores.values()].map(({ reference, score }) => ({ ...reference, score }));
    return fused.sort((a, b) => b.score - a.score);
  }
}

/** One of the indexes, and the sessions that it failed to index. */
class Member {
  private readonly missing = new Map<string, ToolIndexRequest>();

  constructor(
    readonly toolIndex: ToolIndex,
    readonly weight: number,
  ) {}

  async index(request: ToolIndexRequest): Promise<void> {
    this.missing.set(request.session, request);
    await this.toolIndex.index(request);
    this.missing.delete(request.session);
  }

  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    const missing = this.missing.get(request.session);
    if (missing) await this.index(missing);
    return this.toolIndex.search(request);
  }

  async clear(session: string): Promise<void> {
    this.missing.delete(session);
    await this.toolIndex.clear(session);
  }
}
