import { notify } from '../../core/internal/notify.js';
import type { TurnsEvent } from './inspected-source.js';
import type { RecordedTurn } from './recorded-turn.js';

type Listener = (event: TurnsEvent) => void;

/** Milliseconds between two reports of a turn that runs. */
const INTERVAL = 100;

/** Reports changes of turns to listeners: of a turn that runs, at most ten in a second. */
export class ChangeReports {
  private readonly listeners = new Set<Listener>();
  /** Turns that have changed since the last report. */
  private readonly changed = new Set<RecordedTurn>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private reportedAt = -INTERVAL;

  /** @param report makes the event of a changed turn; undefined if it is not kept any more */
  constructor(private readonly report: (turn: RecordedTurn) => TurnsEvent | undefined) {}

  subscribe(listener: Listener): () => void {
    const own: Listener = (event) => listener(event); // one may be added twice
    this.listeners.add(own);
    return () => void this.listeners.delete(own);
  }

  send(event: TurnsEvent): void {
    for (const listener of this.listeners) notify(() => listener(event));
  }

  /** Reports a change now, or with others. */
  add(turn: RecordedTurn): void {
    if (this.listeners.size === 0) return;
    this.changed.add(turn);
    if (this.timer !== undefined) return;
    const wait = Math.max(0, this.reportedAt + INTERVAL - performance.now());
    this.timer = setTimeout(() => this.sendChanges(), wait);
    // a process may end while it waits
    (this.timer as { readonly unref?: () => void }).unref?.();
  }

  private sendChanges(): void {
    this.timer = undefined;
    this.reportedAt = performance.now();
    const turns = [...this.changed];
    this.changed.clear();
    for (const turn of turns)
      notify(() => {
        const event = this.report(turn);
        if (event) this.send(event);
      });
  }
}
