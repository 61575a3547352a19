import { checkIndexRequest, checkSearchRequest, DEFAULT_MAX_RESULTS, isOfCategory } from '../tool-search/check-search.js';
import type { ToolIndex, ToolIndexRequest, ToolReference, ToolSearchRequest, ToolSearchResponse } from '../tool-search/tool-index.js';
import { ToolSets } from '../tool-search/tool-sets.js';
import { matcherFor } from './regex-query.js';

/** A name says more about a tool than a description that mentions a word. */
const NAME = 2;
const DESCRIPTION = 1;

/**
 * Finds tools by their names, with patterns: `get_*` (any name that begins so), a regular expression without spaces
 * (`^get_.*(user|account)`), or plain words, of which any may be in the name or the description. Ignores case, and takes linear time
 * whatever the pattern is.
 */
export class RegexToolIndex implements ToolIndex {
  private readonly sets = new ToolSets<readonly ToolReference[]>({ build: (references) => [...references] });

  /** @throws {@link InvalidArgumentError} if a reference cannot be used */
  index(request: ToolIndexRequest): void {
    checkIndexRequest(request, 'RegexToolIndex.index');
    this.sets.set(request);
  }

  /** @throws {@link InvalidArgumentError} if the pattern cannot be used, with what to write instead */
  search(request: ToolSearchRequest): ToolSearchResponse {
    checkSearchRequest(request, 'RegexToolIndex.search');
    const { session, query, category, maxResults = DEFAULT_MAX_RESULTS } = request;
    const references = (this.sets.get(session) ?? []).filter((reference) => isOfCategory(reference, category));
    const matcher = matcherFor(query);
    if (!matcher) return { references: references.slice(0, maxResults) };
    const found = references.flatMap((reference) => {
      const score = NAME * matcher.name(reference.name) + DESCRIPTION * matcher.description(reference.description);
      return score > 0 ? [{ ...reference, score }] : [];
    });
    // the sort is stable: equal ones stay in the order in which the tools were indexed first
    return { references: found.sort((a, b) => b.score - a.score).slice(0, maxResults) };
  }

  clear(session: string): void {
    this.sets.delete(session);
  }

  /** Number of tools that a session can find. */
  size(session: string): number {
    return this.sets.get(session)?.length ?? 0;
  }
}
