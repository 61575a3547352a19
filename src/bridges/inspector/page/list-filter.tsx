import type { JSX } from 'preact';
import { type FilterKind, KINDS } from './filter.js';
import { filter, shownTurns, summaries } from './store.js';
import { TurnFiles } from './turn-files.js';

const HINTS: Readonly<Record<FilterKind, string>> = {
  failed: 'Failed or cancelled',
  slow: 'The slowest tenth',
  costly: 'The most expensive tenth, by cost or else by tokens',
  running: 'Running, or waiting for a decision',
};

/** Text and kinds that the list is reduced to. */
export function ListFilter(): JSX.Element {
  const { text, kinds } = filter.value;
  const toggle = (kind: FilterKind): void => {
    const next = new Set(kinds);
    if (!next.delete(kind)) next.add(kind);
    filter.value = { text, kinds: next };
  };
  const [shown, all] = [shownTurns.value.length, summaries.value.size];
  return (
    <search class="filter">
      <div class="filter-head">
        <h2>Turns</h2>
        <span class="muted" role="status">
          {shown === all ? all : `${shown} of ${all}`}
        </span>
        <TurnFiles />
      </div>
      <label>
        <span class="visually-hidden">Filter turns by text, conversation, model or error</span>
        <input
          type="search"
          placeholder="Filter by text, conversation, model …"
          value={text}
          onInput={({ currentTarget }) => {
            filter.value = { text: currentTarget.value, kinds };
          }}
        />
      </label>
      <div class="chips" role="group" aria-label="Kinds of turns">
        {KINDS.map((kind) => (
          <button
            key={kind}
            type="button"
            class="chip"
            title={HINTS[kind]}
            aria-pressed={kinds.has(kind)}
            onClick={() => toggle(kind)}
          >
            {kind}
          </button>
        ))}
      </div>
    </search>
  );
}
