import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InspectedTurn } from '../inspected-turn.js';
import { duration } from './parts/format.js';
import { type Figure, figuresOf } from './timeline-figures.js';
import { lengthOf, rowsOf } from './timeline-rows.js';
import { TimelineEntryRow } from './timeline-row.js';

/** Rows that are rendered before the reader asks for more. */
const PAGE = 250;
const TICKS = [0, 0.25, 0.5, 0.75];

/** False leaves the advisors out; it holds for all turns. */
const withAdvisors = signal(true);

/** The parts of a turn by time. */
export function TimelineView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const [shown, setShown] = useState(PAGE);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const rows = rowsOf(turn.timeline, ({ kind }) => withAdvisors.value || kind !== 'advisor');
  const figures = figuresOf(turn.timeline);
  const now = turn.outcome === 'running' ? Date.now() - turn.startedAt : 0;
  const length = lengthOf(turn.timeline, turn.duration, now);
  const toggle = (id: number): void => {
    const next = new Set(opened);
    if (!next.delete(id)) next.add(id);
    setOpened(next);
  };
  return (
    <section class="timeline-part" aria-labelledby="timeline-title">
      <div class="section-head">
        <h2 id="timeline-title">Timeline</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={withAdvisors.value}
            onChange={({ currentTarget }) => {
              withAdvisors.value = currentTarget.checked;
            }}
          />
          Advisors
        </label>
      </div>
      {turn.isCut && (
        <p class="warning">Parts of this turn were dropped to keep within the bound of memory.</p>
      )}
      {rows.length === 0 ? (
        <p class="empty">Nothing has happened in this turn yet.</p>
      ) : (
        <table class="timeline" aria-labelledby="timeline-title" onKeyDown={moveFocus}>
          <Head length={length} figures={figures} />
          <tbody>
            {rows.slice(0, shown).map(({ entry, depth }) => (
              <TimelineEntryRow
                key={entry.id}
                entry={entry}
                depth={depth}
                length={length}
                figures={figures}
                outcome={turn.outcome}
                isOpen={opened.has(entry.id)}
                toggle={toggle}
              />
            ))}
          </tbody>
        </table>
      )}
      {rows.length > shown && (
        <button type="button" onClick={() => setShown(shown + 2 * PAGE)}>
          Show more ({rows.length - shown})
        </button>
      )}
    </section>
  );
}

function Head({
  length,
  figures,
}: {
  readonly length: number;
  readonly figures: readonly Figure[];
}): JSX.Element {
  return (
    <thead>
      <tr>
        <th scope="col">Part</th>
        <th scope="col" class="track-head">
          <span class="visually-hidden">Time</span>
          {TICKS.map((tick) => (
            <span key={tick} class="tick" style={{ left: `${tick * 100}%` }} aria-hidden="true">
              {duration(tick * length)}
            </span>
          ))}
        </th>
        <th scope="col" class="number">
          Duration
        </th>
        {figures.map(({ name, isWide }) => (
          <th key={name} scope="col" class={isWide ? 'tokens' : 'number'}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Arrow keys move between the rows. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLTableElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { target, currentTarget } = event;
  if (step === undefined || !(target instanceof HTMLButtonElement)) return;
  if (!target.classList.contains('part')) return;
  const buttons = [...currentTarget.querySelectorAll<HTMLButtonElement>('button.part')];
  buttons[buttons.indexOf(target) + step]?.focus();
  event.preventDefault();
}
