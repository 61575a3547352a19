import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AdvisorState, ExportedTurns, InspectedTurn } from '../inspected-turn.js';
import { exportAddress, importTurns, removeTurns } from './api.js';
import { plural } from './parts/format.js';
import { show } from './route.js';
import { shownTurns, summaries } from './store.js';

/** Files of turns: opened by a choice or a drop, written with all turns of the list; and the end of all turns. */
export function TurnFiles(): JSX.Element {
  const [status, setStatus] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const run = (action: () => Promise<string>): void => {
    action().then(setStatus, (error: Error) => setStatus(error.message));
  };
  useEffect(() => {
    const stop = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      run(() => openFiles(files));
    };
    window.addEventListener('dragover', stop);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', stop);
      window.removeEventListener('drop', drop);
    };
  }, []);
  const [count, all] = [shownTurns.value.length, summaries.value.size];
  return (
    <div class="files">
      <button type="button" class="chip" onClick={() => input.current?.click()}>
        Open file
      </button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        multiple
        hidden
        aria-label="Files with turns"
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          currentTarget.value = '';
          run(() => openFiles(files));
        }}
      />
      {all > 0 && (
        <>
          <button
            type="button"
            class="chip"
            disabled={count === 0}
            onClick={() => run(exportShown)}
          >
            Export {count === all ? 'all' : count}
          </button>
          <button type="button" class="chip" onClick={() => run(clear)}>
            Clear
          </button>
        </>
      )}
      <span role="status" class="muted small">
        {status}
      </span>
    </div>
  );
}

async function openFiles(files: readonly File[]): Promise<string> {
  let opened: readonly string[] = [];
  for (const file of files) {
    const { ids } = (await importTurns(await file.text())) as { readonly ids?: readonly string[] };
    opened = [...opened, ...(ids ?? [])];
  }
  const [first] = opened;
  if (first !== undefined) show({ view: 'turn', id: first, tab: 'timeline' });
  return `${plural(opened.length, 'turn')} opened`;
}

async function clear(): Promise<string> {
  await removeTurns();
  show({ view: 'turn', tab: 'timeline' });
  return 'Turns that have ended are forgotten';
}

/** Writes the turns of the list as one file. */
async function exportShown(): Promise<string> {
  const turns: InspectedTurn[] = [];
  const states: Record<string, readonly AdvisorState[]> = {};
  for (const { id } of shownTurns.value) {
    const response = await fetch(exportAddress(id), { credentials: 'same-origin' });
    if (!response.ok) continue; // a turn that is no longer kept
    const file = (await response.json()) as ExportedTurns;
    turns.push(...file.turns);
    Object.assign(states, file.states);
  }
  const file: ExportedTurns = { format: 'advisor-chain/turns', version: 1, turns, states };
  const url = URL.createObjectURL(new Blob([JSON.stringify(file)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'turns.json';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return `${plural(turns.length, 'turn')} exported`;
}
