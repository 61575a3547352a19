import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import type { Citation } from '../../src/core/chat/citation.js';
import { RunSlot } from '../../src/core/chat/context.js';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import { citedSources } from './cited-sources.js';
import { isSource, mergeSources, RETRIEVED_DOCUMENTS, type Source } from './source.js';

/** The documents that tools of a run have found. */
const FOUND = new RunSlot<{ readonly sources: readonly Source[] }>();

/** Keeps the value of a result if it is a list of sources. */
export function keepFound(run: RunRecord | undefined, value: unknown): void {
  if (!run || !Array.isArray(value) || value.length === 0 || !value.every(isSource)) return;
  FOUND.set(run, { sources: mergeSources(FOUND.get(run)?.sources ?? [], value) });
}

/**
 * The response with its documents, in `metadata.documents` and the context, the citations of its
 * answer, and in `metadata.citationProblems` those that cannot be confirmed.
 * @param own undefined if nothing was retrieved before the answer
 */
export function withSources(
  response: ChatClientResponse,
  run: RunRecord,
  own?: readonly Source[],
): ChatClientResponse {
  const found = FOUND.get(run)?.sources;
  if (response.paused || (!own && !found)) return response;
  // an advisor right of this one has its documents there
  const retrieved = mergeSources(own ?? [], response.context.get(RETRIEVED_DOCUMENTS));
  const sources = mergeSources(retrieved, found ?? []);
  const { citations, problems } = response.hasToolCalls()
    ? NONE
    : citedSources(response.text ?? '', sources);
  const { citationProblems: _earlier, ...metadata } = response.metadata ?? {};
  return response
    .with({
      metadata: {
        ...metadata,
        documents: sources,
        ...(problems.length > 0 && { citationProblems: problems }),
      },
    })
    .withCitations(...citations.filter((each) => !hasCitation(response.citations, each)))
    .withContext(RETRIEVED_DOCUMENTS, sources);
}

const NONE = { citations: [], problems: [] };

function hasCitation(known: readonly Citation[], { start, document }: Citation): boolean {
  return known.some((each) => each.start === start && each.document?.key === document?.key);
}
