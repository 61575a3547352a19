import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TurnSummary } from '../inspected-turn.js';
import { ListFilter } from './list-filter.js';
import { count, duration, timeOfDay } from './parts/format.js';
import { Outcome } from './parts/outcome.js';
import { beginning } from './parts/text.js';
import { hashOf, route, show } from './route.js';
import { connection, filter, selectedId, shownTurns, summaries } from './store.js';
import { NO_FILTER } from './filter.js';

/** Height of a row, in pixels, as the style has it; rows outside of the window are not rendered. */
const ROW = 64;
const BEYOND = 6;
const PAGE = 8;

/** The turns, the newest first, with their filter. */
export function TurnList(): JSX.Element {
  return (
    <nav class="turns" aria-label="Turns">
      <ListFilter />
      {shownTurns.value.length > 0 ? <Rows turns={shownTurns.value} /> : <NoTurns />}
    </nav>
  );
}

function NoTurns(): JSX.Element {
  if (summaries.value.size > 0)
    return (
      <div class="empty">
        <p>No turn passes this filter.</p>
        <button
          type="button"
          onClick={() => {
            filter.value = NO_FILTER;
          }}
        >
          Show all turns
        </button>
      </div>
    );
  if (connection.value !== 'open') return <p class="empty">Waiting for the process …</p>;
  return (
    <div class="empty">
      <p>No turns yet.</p>
      <p class="muted">Send a prompt with your client: its turn appears here while it runs.</p>
    </div>
  );
}

function Rows({ turns }: { readonly turns: readonly TurnSummary[] }): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  /** Id of the row that gets the focus when it is rendered. */
  const focused = useRef<string | undefined>(undefined);
  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    if (focused.current === undefined) return;
    const row = holder.current?.querySelector<HTMLElement>('a[aria-current]');
    if (row?.dataset['id'] !== focused.current) return;
    row.focus({ preventScroll: true });
    focused.current = undefined;
  });

  const first = Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const last = Math.min(turns.length, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  const selected = turns.findIndex(({ id }) => id === selectedId.value);
  const entry = selected >= first && selected < last ? selected : first;
  const moveTo = (at: number): void => {
    const next = turns[Math.max(0, Math.min(turns.length - 1, at))];
    if (!next) return;
    focused.current = next.id;
    reveal(holder.current, turns.indexOf(next));
    show(routeOfTurn(next.id), { replace: true });
  };
  return (
    <div
      class="rows"
      ref={holder}
      onKeyDown={(event) => {
        const move = MOVES[event.key];
        if (!move || !(event.target instanceof HTMLAnchorElement)) return;
        event.preventDefault();
        // The row that a key before has chosen may not be rendered yet.
        const from = focused.current ?? event.target.dataset['id'];
        moveTo(
          move(
            turns.findIndex(({ id }) => id === from),
            turns.length,
          ),
        );
      }}
    >
      <ul style={{ height: `${turns.length * ROW}px` }}>
        {turns.slice(first, last).map((turn, index) => (
          <Row
            key={turn.id}
            turn={turn}
            at={first + index}
            size={turns.length}
            isSelected={turn.id === selectedId.value}
            isEntry={first + index === entry}
          />
        ))}
      </ul>
    </div>
  );
}

const MOVES: Readonly<Record<string, (at: number, length: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + PAGE,
  PageUp: (at) => at - PAGE,
  Home: () => 0,
  End: (_at, length) => length - 1,
};

function reveal(element: HTMLElement | null, at: number): void {
  if (!element) return;
  const [top, bottom] = [at * ROW, (at + 1) * ROW];
  if (top < element.scrollTop) element.scrollTop = top;
  else if (bottom > element.scrollTop + element.clientHeight)
    element.scrollTop = bottom - element.clientHeight;
}

/** The tab that is open stays open. */
const routeOfTurn = (id: string) => ({
  view: 'turn' as const,
  id,
  tab: route.value.view === 'turn' ? route.value.tab : ('timeline' as const),
});

const waitingOf = ({ outcome, isWaiting }: TurnSummary): string =>
  outcome === 'paused' || isWaiting ? 'waits for a decision' : '';

function Row({
  turn,
  at,
  size,
  isSelected,
  isEntry,
}: {
  readonly turn: TurnSummary;
  readonly at: number;
  readonly size: number;
  readonly isSelected: boolean;
  /** True for the row that the Tab key reaches; arrows reach the others. */
  readonly isEntry: boolean;
}): JSX.Element {
  const { id, question, answer, outcome, startedAt, conversationId, error } = turn;
  return (
    <li style={{ top: `${at * ROW}px` }} aria-setsize={size} aria-posinset={at + 1}>
      <a
        href={hashOf(routeOfTurn(id))}
        data-id={id}
        tabIndex={isEntry ? 0 : -1}
        aria-current={isSelected ? 'true' : undefined}
      >
        <span class="row-title">
          <Outcome outcome={outcome} />
          <bdi>{question === '' ? 'No question' : question}</bdi>
        </span>
        <span class="row-answer muted">
          <bdi>{error ? `${error.name}: ${error.message}` : answer || waitingOf(turn)}</bdi>
        </span>
        <span class="row-facts muted">
          <time dateTime={new Date(startedAt).toISOString()}>{timeOfDay(startedAt)}</time>
          {turn.duration !== undefined && <span>{duration(turn.duration)}</span>}
          {turn.usage && <span>{count(turn.usage.totalTokens)} tokens</span>}
          {conversationId !== undefined && <bdi>{beginning(conversationId, 60)}</bdi>}
        </span>
      </a>
    </li>
  );
}
