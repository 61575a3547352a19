import type { JSX } from 'preact';
import { hashOf } from './route.js';
import { selectedId, shownTurns } from './store.js';

/** The turns, the newest first. */
export function TurnList(): JSX.Element {
  return (
    <nav aria-label="Turns">
      <ul>
        {shownTurns.value.map((turn) => (
          <li key={turn.id}>
            <a
              href={hashOf({ view: 'turn', id: turn.id, tab: 'timeline' })}
              aria-current={turn.id === selectedId.value ? 'true' : undefined}
            >
              <bdi>{turn.question}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
