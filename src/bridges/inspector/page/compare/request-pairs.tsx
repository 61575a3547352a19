import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { InspectedRequest, SentRequest } from '../../inspected-turn.js';
import { requestChanges, type RawRequest } from '../../request-difference.js';
import { ChangeView } from '../requests/change-view.js';
import { changesInWords } from '../requests/change-words.js';

/** The requests of two turns, each with what B has in place of A. */
export function RequestPairs({
  left,
  right,
}: {
  readonly left: readonly InspectedRequest[];
  readonly right: readonly InspectedRequest[];
}): JSX.Element {
  const count = Math.max(left.length, right.length);
  return (
    <section aria-labelledby="pairs-title">
      <h3 id="pairs-title">What the model got</h3>
      <ol class="pairs">
        {Array.from({ length: count }, (_, at) => (
          <li key={at}>
            <RequestPair number={at + 1} before={left[at]} after={right[at]} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function RequestPair({
  number,
  before,
  after,
}: {
  readonly number: number;
  readonly before: InspectedRequest | undefined;
  readonly after: InspectedRequest | undefined;
}): JSX.Element {
  const changes = useMemo(
    () => (before && after ? requestChanges(rawOf(before), rawOf(after)) : []),
    [before, after],
  );
  if (!before || !after)
    return (
      <p>
        Call {number} <span class="label changed">{before ? 'only in A' : 'only in B'}</span>
      </p>
    );
  if (changes.length === 0) return <p class="muted">Call {number}: the same request.</p>;
  return (
    <details open={number === 1}>
      <summary>
        Call {number}: B has {changesInWords(changes)}
      </summary>
      <ul class="changes">
        {changes.map((change, at) => (
          <ChangeView key={at} change={change} />
        ))}
      </ul>
    </details>
  );
}

function rawOf({ model, messages, tools, options }: SentRequest): RawRequest {
  return { model, messages, tools, options: options as RawRequest['options'] };
}
