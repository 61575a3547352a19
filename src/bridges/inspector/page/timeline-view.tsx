import type { JSX } from 'preact';
import type { InspectedTurn } from '../inspected-turn.js';
import { JsonView } from './parts/json-view.js';

/** The parts of a turn by time. */
export function TimelineView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  return (
    <section aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <ol>
        {turn.timeline.map((entry) => (
          <li key={entry.id}>
            {entry.kind} <bdi>{entry.name}</bdi>
            {entry.detail !== undefined && <JsonView value={entry.detail} open={false} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
