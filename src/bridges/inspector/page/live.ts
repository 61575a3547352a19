import { effect, untracked } from '@preact/signals';
import type { InspectorEvent } from '../page-messages.js';
import { ApiError, followEvents, readTurn } from './api.js';
import { beginning } from './parts/text.js';
import {
  applyEvents,
  connection,
  selectedId,
  selectedProblem,
  selectedTurn,
  summaries,
} from './store.js';

/** Milliseconds between two updates of the list, and between two readings of the selected turn. */
const LIST_INTERVAL = 50;
const TURN_INTERVAL = 200;
/** A turn that takes long to read is read less often: most of the time is left to the reader. */
const PAUSE_PER_READING = 4;

/** Follows the inspector, and keeps the selected turn up to date. */
export function startLive(): void {
  followList();
  followSelected();
  effect(() => {
    const question = selectedTurn.value?.question;
    const title = question ? `${beginning(question, 60)} · Inspector` : 'Inspector';
    document.title = `${title} · advisor-chain`;
  });
}

function followList(): void {
  let waiting: InspectorEvent[] = [];
  const apply = (): void => {
    const events = waiting;
    waiting = [];
    applyEvents(events);
  };
  followEvents(
    (event) => {
      waiting.push(event);
      if (waiting.length === 1) setTimeout(apply, event.type === 'hello' ? 0 : LIST_INTERVAL);
    },
    (next) => {
      connection.value = next;
    },
  );
}

/** Reads the selected turn again when its revision changes, at most once in an interval, and never twice at a time. */
function followSelected(): void {
  let reading: AbortController | undefined;
  let isDue = false;
  const read = async (id: string): Promise<void> => {
    const own = new AbortController();
    reading = own;
    isDue = false;
    const start = performance.now();
    try {
      const turn = await readTurn(id, own.signal);
      if (own.signal.aborted) return;
      selectedTurn.value = turn;
      selectedProblem.value = undefined;
    } catch (error) {
      if (own.signal.aborted) return;
      selectedProblem.value = problemOf(error);
    }
    const lasted = performance.now() - start;
    const pause = Math.max(TURN_INTERVAL - lasted, lasted * PAUSE_PER_READING);
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (own.signal.aborted) return;
    reading = undefined;
    if (isDue) void read(id);
  };
  let lastId: string | undefined;
  effect(() => {
    const id = selectedId.value;
    const revision = id === undefined ? undefined : summaries.value.get(id)?.revision;
    untracked(() => {
      if (id !== lastId) {
        reading?.abort();
        reading = undefined;
        lastId = id;
        if (selectedTurn.value?.id !== id) selectedTurn.value = undefined;
        selectedProblem.value = undefined;
      } else if (isKnown(revision)) return;
      if (id === undefined) return;
      isDue = true;
      if (!reading) void read(id);
    });
  });
}

/** True for a revision that is shown, and for a turn that is not in the list and could not be read. */
function isKnown(revision: number | undefined): boolean {
  if (revision === undefined) return selectedProblem.value !== undefined;
  return revision === selectedTurn.value?.revision;
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 404)
    return 'This turn is no longer kept: the inspector has a bound, and newer turns took its place.';
  return error instanceof Error ? error.message : String(error);
}
