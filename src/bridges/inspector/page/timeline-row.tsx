import type { JSX } from 'preact';
import type { TimelineEntry, TurnSummary } from '../inspected-turn.js';
import { ErrorCard } from './parts/error-card.js';
import { count, duration } from './parts/format.js';
import { JsonView } from './parts/json-view.js';
import { beginning } from './parts/text.js';
import { chosenCall } from './requests-view.js';
import { hashOf } from './route.js';
import { selectedTurn } from './store.js';
import { type Figure, lasting } from './timeline-figures.js';
import { barOf } from './timeline-rows.js';

/** Deeper rows are not indented further: names need their place. */
const MAX_DEPTH = 14;
const NAME_LENGTH = 200;

const KINDS: Readonly<Record<TimelineEntry['kind'], string>> = {
  advisor: 'advisor',
  'model-call': 'model',
  'tool-call': 'tool',
  retrieval: 'retrieval',
  wait: 'wait',
  retry: 'retry',
  retract: 'retract',
  pause: 'pause',
  event: 'event',
  limit: 'limit',
};

/** A row of the timeline, and below it, when it is open, all that is known of the entry. */
export function TimelineEntryRow({
  entry,
  depth,
  length,
  figures,
  outcome,
  isOpen,
  toggle,
}: {
  readonly entry: TimelineEntry;
  readonly depth: number;
  /** Milliseconds of the axis. */
  readonly length: number;
  readonly figures: readonly Figure[];
  /** Of the turn. */
  readonly outcome: TurnSummary['outcome'];
  readonly isOpen: boolean;
  readonly toggle: (id: number) => void;
}): JSX.Element {
  const { id, kind, name, end } = entry;
  const isOngoing = outcome === 'running' && end === undefined;
  const classes = ['entry', kind, entry.outcome, isOngoing && 'ongoing', isOpen && 'open'];
  return (
    <>
      <tr class={classes.filter(Boolean).join(' ')} onClick={() => toggle(id)}>
        <td class="name" style={{ '--depth': Math.min(depth, MAX_DEPTH) }}>
          <button
            type="button"
            class="part"
            aria-expanded={isOpen}
            onClick={stopped(() => toggle(id))}
          >
            <span class="kind">{KINDS[kind]}</span>{' '}
            <bdi class="part-name">{beginning(name, NAME_LENGTH)}</bdi>
            <Marks entry={entry} outcome={outcome} />
          </button>
        </td>
        <td class="track">
          <Bar entry={entry} length={length} />
        </td>
        <td class="number" data-label="Duration">
          {isOngoing ? 'running' : lasting(entry)}
        </td>
        {figures.map((figure) => (
          <td key={figure.name} class="number" data-label={figure.name}>
            {figure.of(entry)}
          </td>
        ))}
      </tr>
      {isOpen && (
        <tr class="entry-detail">
          <td colSpan={figures.length + 3}>
            <EntryDetail entry={entry} />
          </td>
        </tr>
      )}
    </>
  );
}

const stopped = (action: () => void) => (event: Event) => {
  event.stopPropagation();
  action();
};

function Marks({
  entry,
  outcome,
}: {
  readonly entry: TimelineEntry;
  readonly outcome: TurnSummary['outcome'];
}): JSX.Element {
  const { error, isReplayed, iteration, kind } = entry;
  const ending = endingOf(entry, outcome);
  return (
    <>
      {iteration !== undefined && kind === 'model-call' && (
        <span class="mark-word muted">iteration {iteration + 1}</span>
      )}
      {isReplayed && <span class="mark-word">replayed</span>}
      {ending !== undefined && (
        <span class={`mark-word ${error ? 'error' : ending}`}>
          {error ? beginning(error.name, 60) : ending}
        </span>
      )}
    </>
  );
}

/** The ending of an entry that is worth a word. A turn that pauses cancels all that is around the tool that waits. */
function endingOf(entry: TimelineEntry, outcome: TurnSummary['outcome']): string | undefined {
  const ending = entry.error ? 'error' : entry.outcome;
  if (ending === 'ok' || (ending === 'cancelled' && outcome === 'paused')) return undefined;
  return ending;
}

function Bar({
  entry,
  length,
}: {
  readonly entry: TimelineEntry;
  readonly length: number;
}): JSX.Element {
  const { left, width } = barOf(entry, length);
  const isMoment = entry.end === entry.start;
  const waited =
    entry.firstToken === undefined
      ? 0
      : entry.firstToken / Math.max(1, (entry.end ?? length) - entry.start);
  return (
    <span class="bar-holder" aria-hidden="true">
      {isMoment ? (
        <span class="moment" style={{ left: `${left}%` }} />
      ) : (
        <span class="bar" style={{ left: `${left}%`, width: `${width}%` }}>
          {waited > 0 && (
            <span class="until-token" style={{ width: `${Math.min(100, waited * 100)}%` }} />
          )}
        </span>
      )}
    </span>
  );
}

/** Leads from a call of the model to what it got. */
function RequestLink({ entry }: { readonly entry: TimelineEntry }): JSX.Element | null {
  const turn = selectedTurn.value;
  if (!turn?.requests.some((request) => request.entry === entry.id)) return null;
  return (
    <p>
      <a
        href={hashOf({ view: 'turn', id: turn.id, tab: 'requests' })}
        onClick={() => {
          chosenCall.value = entry.id;
        }}
      >
        See the request and the advisors that changed it
      </a>
    </p>
  );
}

function EntryDetail({ entry }: { readonly entry: TimelineEntry }): JSX.Element {
  const { kind, start, outcome, usage, error, detail, iteration } = entry;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Kind', kind],
    ['Iteration', iteration === undefined ? undefined : String(iteration + 1)],
    ['Starts after', duration(start)],
    ['Lasts', lasting(entry) || undefined],
    ['Outcome', outcome],
    ['Input', usage && `${count(usage.inputTokens)} tokens`],
    ['of these cached', usage?.cachedInputTokens?.toLocaleString('en')],
    ['Output', usage && `${count(usage.outputTokens)} tokens`],
    ['of these reasoning', usage?.reasoningTokens?.toLocaleString('en')],
  ];
  return (
    <div class="detail">
      {error && <ErrorCard error={error} />}
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <RequestLink entry={entry} />
      {detail === undefined ? null : <JsonView value={detail} name="detail" expand={2} />}
    </div>
  );
}
