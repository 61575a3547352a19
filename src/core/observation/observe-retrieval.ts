import type { Document } from '../chat/document.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import type { Observation } from './observation.js';

/**
 * Runs one search for documents as a part of an observation, if there is one.
 * @param dataSource name of what is searched
 */
export async function observeRetrieval(
  observation: Observation | undefined,
  dataSource: string,
  { text: query, signal }: { readonly text: string; readonly signal: AbortSignal },
  search: () => Promise<readonly Document[]>,
): Promise<readonly Document[]> {
  const part = observation?.begin({ type: 'retrieval', dataSource, query });
  if (!part) return search();
  try {
    const documents = await part.run(search);
    part.end({ type: 'documents', documents });
    return documents;
  } catch (error) {
    const isCancelled = signal.aborted || hasCode(error, 'cancelled');
    part.end(isCancelled ? { type: 'cancelled' } : { type: 'error', error });
    throw error;
  }
}
