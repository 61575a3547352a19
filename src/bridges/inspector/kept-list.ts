import { randomId } from '../../core/chat/context.js';
import { statesOf } from './advisor-states.js';
import { ChangeReports } from './change-reports.js';
import { readExport } from './exported-turns.js';
import type { TurnsEvent } from './inspected-source.js';
import type { AdvisorState, InspectedTurn, TurnSummary } from './inspected-turn.js';
import type { KeptTurns } from './page-messages.js';
import { RecordedTurn, type TurnOrigin } from './recorded-turn.js';
import type { Redactor } from './redactor.js';
import { summaryFields, summaryOf } from './turn-summary.js';
import { TurnView } from './turn-view.js';

/** A turn that is kept, with the bytes that are counted for it. */
type KeptTurn = { bytes: number } & (
  | { readonly recorded: RecordedTurn; readonly file?: undefined }
  | {
      readonly recorded?: undefined;
      readonly file: { readonly turn: InspectedTurn; readonly states: readonly AdvisorState[] };
    }
);

/** Number of turns whose JSON is kept, since a page reads one again and again. */
const MAX_VIEWS = 2;

/** The turns of an inspector, within their bounds. */
export class KeptList {
  private readonly kept = new Map<string, KeptTurn>();
  private bytes = 0;
  private readonly views = new Map<string, TurnView>();
  private readonly reports = new ChangeReports(({ origin }) => this.changeOf(origin.id));

  constructor(
    private readonly bounds: Pick<KeptTurns, 'maxTurns' | 'maxBytes'>,
    private readonly redactor: Redactor,
  ) {}

  get memory(): KeptTurns {
    return { turns: this.kept.size, bytes: this.bytes, ...this.bounds };
  }

  begin(origin: Omit<TurnOrigin, 'id' | 'maxBytes'>): RecordedTurn {
    const id = randomId();
    const { maxBytes } = this.bounds;
    const kept: KeptTurn = {
      bytes: 0,
      recorded: new RecordedTurn({ ...origin, id, maxBytes }, (turn) => {
        this.count(kept, turn.bytes);
        this.enforce(id);
        this.reports.add(turn);
      }),
    };
    this.kept.set(id, kept);
    kept.recorded?.changed();
    return kept.recorded as RecordedTurn;
  }

  recorded(id: string): RecordedTurn | undefined {
    return this.kept.get(id)?.recorded;
  }

  summaries(): readonly TurnSummary[] {
    return [...this.kept.values()].map((turn) => this.summary(turn));
  }

  turn(id: string): InspectedTurn | undefined {
    const { recorded, file } = this.kept.get(id) ?? {};
    return recorded ? this.viewOf(id, recorded).turn() : file?.turn;
  }

  async states(id: string): Promise<readonly AdvisorState[]> {
    const { recorded, file } = this.kept.get(id) ?? {};
    return recorded ? statesOf(recorded.live, this.redactor) : (file?.states ?? []);
  }

  import(given: unknown): readonly string[] {
    return readExport(given, this.bounds.maxBytes).map(({ turn, states, bytes }) => {
      const id = randomId();
      const shown: InspectedTurn = { ...turn, id, source: 'file', isLive: false };
      const kept: KeptTurn = { bytes: 0, file: { turn: shown, states } };
      this.kept.set(id, kept);
      this.count(kept, bytes);
      this.enforce(id);
      this.reports.send({ type: 'turn', turn: summaryFields(shown), kept: this.memory });
      return id;
    });
  }

  /** Removes turns that have ended. @param ids @default all */
  remove(ids: readonly string[] = [...this.kept.keys()]): void {
    const removed = ids.filter((id) => hasEnded(this.kept.get(id)));
    for (const id of removed) {
      this.bytes -= this.kept.get(id)?.bytes ?? 0;
      this.kept.delete(id);
      this.views.delete(id);
    }
    if (removed.length > 0) this.reports.send({ type: 'removed', ids: removed, kept: this.memory });
  }

  subscribe(listener: (event: TurnsEvent) => void): () => void {
    return this.reports.subscribe(listener);
  }

  private count(kept: KeptTurn, bytes: number): void {
    this.bytes += bytes - kept.bytes;
    kept.bytes = bytes;
  }

  /** @param newest id of a turn that stays */
  private enforce(newest: string): void {
    const { maxTurns, maxBytes } = this.bounds;
    let { bytes } = this;
    let { size } = this.kept;
    if (size <= maxTurns && bytes <= maxBytes) return;
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

  private changeOf(id: string): TurnsEvent | undefined {
    const kept = this.kept.get(id);
    return kept && { type: 'turn', turn: this.summary(kept), kept: this.memory };
  }

  private summary({ recorded, file }: KeptTurn): TurnSummary {
    return recorded ? summaryOf(recorded, this.redactor) : summaryFields(file.turn);
  }

  private viewOf(id: string, turn: RecordedTurn): TurnView {
    const view = this.views.get(id) ?? new TurnView(turn, this.redactor);
    this.views.delete(id); // the latest is the last one
    this.views.set(id, view);
    for (const oldest of this.views.keys()) {
      if (this.views.size <= MAX_VIEWS) break;
      this.views.delete(oldest);
    }
    return view;
  }
}

function hasEnded(turn: KeptTurn | undefined): boolean {
  return turn !== undefined && turn.recorded?.outcome !== 'running';
}
