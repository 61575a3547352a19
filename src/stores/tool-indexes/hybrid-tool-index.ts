import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  FUNCTION,
  POSITIVE,
  rule,
  type Rule,
} from '../../core/internal/options.js';
import {
  type ToolIndex,
  type ToolIndexRequest,
  type ToolReference,
  type ToolSearchRequest,
  type ToolSearchResponse,
  checkIndexRequest,
  checkSearchRequest,
} from './tool-index.js';
import { fuseRankings } from '../vectors/fuse-rankings.js';
import { EditableToolIndex } from './editable-tool-index.js';

/** Options of a {@link HybridToolIndex}. */
export interface HybridToolIndexOptions {
  /** Indexes to search in, at least one. */
  readonly indexes: readonly ToolIndex[];
  /** Weight of each index, > 0, in the same order. @default its `weightOf` the query, or 1 */
  readonly weights?: readonly number[] | undefined;
  /** Damping of ranks, > 0: with a large value the first ranks count little more than later ones. @default 60 */
  readonly rankConstant?: number | undefined;
  /** Receives the error of an index that failed while another one succeeded. @default none */
  readonly onError?: ((error: unknown, index: ToolIndex) => void) | undefined;
}

/** Factor for the results of each index: rank 3 in two of them is better than rank 1 in one. */
const DEPTH = 4;
const isNonEmpty = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const INDEXES = rule('an array of at least one ToolIndex', isNonEmpty);

/**
 * Searches in several indexes concurrently and merges their results by {@link fuseRankings}, which
 * does not compare their scores. Fails only if all fail.
 */
export class HybridToolIndex extends EditableToolIndex {
  protected readonly where = 'HybridToolIndex';
  private readonly references = new Map<string, readonly ToolReference[]>();
  private readonly members: readonly Member[];
  private readonly rankConstant: number;
  private readonly onError: HybridToolIndexOptions['onError'];

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: HybridToolIndexOptions) {
    super();
    const { indexes, weights, rankConstant = 60, onError } = options;
    checkOption('HybridToolIndex', 'indexes', indexes, INDEXES);
    checkOptions('HybridToolIndex', options, {
      indexes: CHECKED_APART,
      weights: weightsRule(indexes.length),
      rankConstant: POSITIVE,
      onError: FUNCTION,
    });
    this.members = indexes.map((index, at) => new Member(index, weights?.[at]));
    this.rankConstant = rankConstant;
    this.onError = onError;
  }

  /** @throws the first error if all indexes fail; searches of the session retry an index that failed */
  async index(request: ToolIndexRequest): Promise<void> {
    checkIndexRequest(request, 'HybridToolIndex.index');
    this.references.set(request.session, [...request.references]);
    await this.fromAll((member) => member.index(request));
  }

  /** @throws the first error if all indexes fail */
  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    const { maxResults } = checkSearchRequest(request, 'HybridToolIndex.search');
    const rankings = await this.fromAll(async (member) => {
      const { references } = await member.search({ ...request, maxResults: maxResults * DEPTH });
      return { items: references, weight: member.weightOf(request.query) };
    });
    const keyOf = ({ name, description }: ToolReference): string =>
      JSON.stringify([name, description]);
    const fused = fuseRankings(rankings, keyOf, this.rankConstant).slice(0, maxResults);
    const all = rankings.flatMap(({ items }) => items);
    const references = fused.map(({ item, score }) => {
      const same = all.filter((other) => keyOf(other) === keyOf(item));
      const matches = new Set(same.flatMap((other) => other.matches ?? []));
      return { ...item, score, ...(matches.size > 0 && { matches: [...matches] }) };
    });
    return { references };
  }

  /** @throws the first error of an index */
  async clear(session: string): Promise<void> {
    this.references.delete(session);
    await Promise.all(this.members.map((member) => member.clear(session)));
  }

  /**
   * Removes all sessions and closes the indexes.
   * @throws the first error of an index; the others are closed
   */
  async close(): Promise<void> {
    this.references.clear();
    const closed = await Promise.allSettled(this.members.map((member) => member.close()));
    for (const one of closed) if (one.status === 'rejected') throw one.reason;
  }

  protected referencesOf(session: string): readonly ToolReference[] {
    return this.references.get(session) ?? [];
  }

  /** Collects the results of all indexes that succeed. */
  private async fromAll<T>(operation: (member: Member) => Promise<T>): Promise<readonly T[]> {
    const settled = await Promise.allSettled(this.members.map(operation));
    const results = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const [at, one] of settled.entries()) {
      if (one.status === 'fulfilled') continue;
      if (results.length === 0) throw one.reason;
      this.onError?.(one.reason, (this.members[at] as Member).toolIndex);
    }
    return results;
  }
}

function weightsRule(count: number): Rule {
  const accepts = (value: unknown): boolean =>
    Array.isArray(value) && value.length === count && value.every(POSITIVE.accepts);
  return rule(`an array of ${count} numbers > 0`, accepts);
}

/** An index and the sessions that it failed to index. */
class Member {
  private readonly notIndexed = new Map<string, ToolIndexRequest>();

  constructor(
    readonly toolIndex: ToolIndex,
    private readonly weight: number | undefined,
  ) {}

  weightOf(query: string): number {
    return this.weight ?? this.toolIndex.weightOf?.(query) ?? 1;
  }

  async index(request: ToolIndexRequest): Promise<void> {
    this.notIndexed.set(request.session, request);
    await this.toolIndex.index(request);
    this.notIndexed.delete(request.session);
  }

  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    const { session, signal } = request;
    const missing = this.notIndexed.get(session);
    // embeddings count in the run that searches: the one that indexed may have ended
    if (missing) await this.index({ ...missing, ...(signal && { signal }) });
    return this.toolIndex.search(request);
  }

  async clear(session: string): Promise<void> {
    this.notIndexed.delete(session);
    await this.toolIndex.clear(session);
  }

  async close(): Promise<void> {
    this.notIndexed.clear();
    await this.toolIndex.close?.();
  }
}
