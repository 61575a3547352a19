import { batch, computed, signal } from '@preact/signals';
import type { InspectedChain, InspectedTurn, TurnSummary } from '../inspected-turn.js';
import type { InspectorEvent, KeptTurns } from '../page-messages.js';
import type { Connection } from './api.js';
import { NO_FILTER, type Filter, matches } from './filter.js';
import { route } from './route.js';

export const connection = signal<Connection>('connecting');
/** Version of the inspected package. */
export const version = signal('');
/** True if the page can start turns. */
export const canTry = signal(false);
/** Chain of the client of the inspector. */
export const clientChain = signal<InspectedChain | undefined>(undefined);
export const kept = signal<KeptTurns | undefined>(undefined);
/** All turns by their ids, in the order of their start. */
export const summaries = signal<ReadonlyMap<string, TurnSummary>>(new Map());
export const filter = signal<Filter>(NO_FILTER);

/** The turns that pass the filter, the newest first. */
export const shownTurns = computed<readonly TurnSummary[]>(() => {
  const all = [...summaries.value.values()];
  const passed = matches(filter.value, all);
  return all.filter(passed).sort((one, other) => other.startedAt - one.startedAt);
});

/** Id of the turn that is shown. */
export const selectedId = computed(() =>
  route.value.view === 'turn' ? route.value.id : undefined,
);
/** The turn that is shown, as it was read last; undefined until it was. */
export const selectedTurn = signal<InspectedTurn | undefined>(undefined);
/** Problem of the last reading of the selected turn. */
export const selectedProblem = signal<string | undefined>(undefined);
/** The last turn that ended, or began to wait, while the page was open, as a sentence for screen readers. */
export const announcement = signal('');

/** Applies events of the inspector in one update of the page. */
export function applyEvents(events: readonly InspectorEvent[]): void {
  batch(() => {
    const turns = new Map(summaries.value);
    for (const event of events) applyEvent(turns, event);
    summaries.value = turns;
  });
}

function applyEvent(turns: Map<string, TurnSummary>, event: InspectorEvent): void {
  switch (event.type) {
    case 'hello':
      version.value = event.version;
      canTry.value = event.canTry;
      clientChain.value = event.chain;
      kept.value = event.kept;
      selectedProblem.value = undefined;
      turns.clear();
      for (const turn of event.turns) turns.set(turn.id, turn);
      return;
    case 'turn':
      announceEnd(turns.get(event.turn.id), event.turn);
      if (event.kept) kept.value = event.kept;
      turns.set(event.turn.id, event.turn);
      return;
    case 'removed':
      kept.value = event.kept;
      for (const id of event.ids) turns.delete(id);
  }
}

function announceEnd(before: TurnSummary | undefined, after: TurnSummary): void {
  const question = after.question === '' ? 'A turn' : `“${after.question.slice(0, 60)}”`;
  if (after.isWaiting && !before?.isWaiting)
    announcement.value = `${question} waits for a decision`;
  if (after.outcome === 'running' || before?.outcome === after.outcome) return;
  const ends = { answered: 'is answered', failed: 'has failed', paused: 'waits for a decision' };
  const end = after.outcome === 'cancelled' ? 'was cancelled' : ends[after.outcome];
  announcement.value = `${question} ${end}`;
}
