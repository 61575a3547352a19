import { randomId } from '../../core/chat/context.js';
import { notify } from '../../core/internal/notify.js';
import type { AdvisorState, InspectedTurn, KeptTurns, TurnSummary } from './inspected-turn.js';
import type { TurnsEvent } from './inspected-source.js';
import { readExport } from './exported-turns.js';
import { RecordedTurn, type TurnOrigin } from './recorded-turn.js';
import type { Redactor } from './redactor.js';
import { statesOf } from './advisor-states.js';
import { summaryFields, summaryOf, turnOf } from './turn-view.js';

/** A turn of a file. */
interface ImportedTurn {
  readonly turn: InspectedTurn;
  readonly states: readonly AdvisorState[];
  readonly bytes: number;
}

type KeptTurn = RecordedTurn | ImportedTurn;
type Listener = (event: TurnsEvent) => void;

/** Milliseconds between two reports of a turn. */
const INTERVAL = 100;

/** The turns of an inspector within their bounds, and the listeners to their changes. */
export class KeptList {
  private readonly kept = new Map<string, KeptTurn>();
  private readonly listeners = new Set<Listener>();
  /** Turns that have changed since the last report. */
  private readonly changed = new Set<RecordedTurn>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private reportedAt = -INTERVAL;

  constructor(
    private readonly bounds: Pick<KeptTurns, 'maxTurns' | 'maxBytes'>,
    private readonly redactor: Redactor,
  ) {}

  get memory(): KeptTurns {
    return { turns: this.kept.size, bytes: this.bytes, ...this.bounds };
  }

  begin(origin: Omit<TurnOrigin, 'id'>): RecordedTurn {
    const id = randomId();
    const turn = new RecordedTurn({ ...origin, id }, (changed) => this.onChange(changed));
    this.kept.set(id, turn);
    this.enforce();
    this.onChange(turn);
    return turn;
  }

  recorded(id: string): RecordedTurn | undefined {
    const turn = this.kept.get(id);
    return turn instanceof RecordedTurn ? turn : undefined;
  }

  summaries(): readonly TurnSummary[] {
    return [...this.kept.values()].map((turn) => this.summary(turn));
  }

  turn(id: string): InspectedTurn | undefined {
    const turn = this.kept.get(id);
    return turn instanceof RecordedTurn ? turnOf(turn, this.redactor) : turn?.turn;
  }

  async states(id: string): Promise<readonly AdvisorState[]> {
    const turn = this.kept.get(id);
    if (!(turn instanceof RecordedTurn)) return turn?.states ?? [];
    return statesOf(turn.live, this.redactor);
  }

  import(file: unknown): readonly string[] {
    return readExport(file, this.bounds.maxBytes).map(({ turn, states, bytes }) => {
      const id = randomId();
      const imported = { ...turn, id, source: 'file', isLive: false } as const;
      this.kept.set(id, { turn: imported, states, bytes });
      this.enforce(id);
      this.report([{ type: 'turn', turn: this.summary({ turn: imported, states, bytes }) }]);
      return id;
    });
  }

  remove(ids: readonly string[] = [...this.kept.keys()]): void {
    const removed = ids.filter((id) => hasEnded(this.kept.get(id)));
    for (const id of removed) this.kept.delete(id);
    if (removed.length > 0) this.report([{ type: 'removed', ids: removed, kept: this.memory }]);
  }

  subscribe(listener: Listener): () => void {
    const own: Listener = (event) => listener(event);
    this.listeners.add(own);
    return () => void this.listeners.delete(own);
  }

  private get bytes(): number {
    let bytes = 0;
    for (const turn of this.kept.values()) bytes += turn.bytes;
    return bytes;
  }

  /** @param newest id of a turn that stays */
  private enforce(newest?: string): void {
    const { maxTurns, maxBytes } = this.bounds;
    let [{ size }, bytes] = [this.kept, this.bytes];
    const removed: string[] = [];
    for (const [id, turn] of this.kept) {
      if (size <= maxTurns && bytes <= maxBytes) break;
      if (!hasEnded(turn) || id === newest) continue;
      removed.push(id);
      size--;
      bytes -= turn.bytes;
    }
    this.remove(removed);
  }

  private summary(turn: KeptTurn): TurnSummary {
    if (turn instanceof RecordedTurn) return summaryOf(turn, this.redactor);
    return summaryFields(turn.turn);
  }

  private onChange(turn: RecordedTurn): void {
    if (turn.duration !== undefined) this.enforce(turn.origin.id);
    if (this.listeners.size === 0) return;
    this.changed.add(turn);
    if (this.timer !== undefined) return;
    const wait = Math.max(0, this.reportedAt + INTERVAL - performance.now());
    this.timer = setTimeout(() => this.reportChanges(), wait);
    // a process may end while it waits
    (this.timer as { unref?: () => void }).unref?.();
  }

  private reportChanges(): void {
    this.timer = undefined;
    this.reportedAt = performance.now();
    const turns = [...this.changed].filter(({ origin }) => this.kept.has(origin.id));
    this.changed.clear();
    this.report(turns.map((turn) => ({ type: 'turn', turn: this.summary(turn) })));
  }

  private report(events: readonly Parameters<Listener>[0][]): void {
    for (const listener of this.listeners)
      for (const event of events) notify(() => listener(event));
  }
}

function hasEnded(turn: KeptTurn | undefined): boolean {
  if (turn instanceof RecordedTurn) return turn.outcome !== 'running';
  return turn !== undefined;
}
