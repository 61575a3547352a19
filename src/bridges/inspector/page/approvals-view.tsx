import type { JSX } from 'preact';
import type { InspectedTurn } from '../inspected-turn.js';
import { ShownText } from './parts/text.js';

/** Requests of a turn that wait for a decision. */
export function ApprovalsView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  return (
    <section aria-labelledby="approvals-title">
      <h2 id="approvals-title">Waiting for a decision</h2>
      <ul>
        {turn.pending.map((request) => (
          <li key={request.id}>
            <ShownText text={request.prompt} />
          </li>
        ))}
      </ul>
    </section>
  );
}
