import { Inspector, type ExportedTurns } from '../../bridges/inspector/index.js';
import { ObservabilityAdvisor, type Advisor } from '../../index.js';
import { describeRun, RecordingTracer } from '../../testing/index.js';
import { describeTimeline } from './describe-timeline.js';

/** Records the turns of a session, for `/trace` and `/export`. */
export class SessionRecorder {
  // a person asks for a file of a session of one's own, wherever it runs
  private readonly inspector = new Inspector({ allowInProduction: true });

  /** @param tracer undefined if the package that it needs is not installed */
  private constructor(private readonly tracer: RecordingTracer | undefined) {}

  static async open(): Promise<SessionRecorder> {
    try {
      await import('@opentelemetry/api');
    } catch {
      return new SessionRecorder(undefined);
    }
    return new SessionRecorder(new RecordingTracer());
  }

  get advisors(): readonly Advisor[] {
    const { tracer, inspector } = this;
    return [inspector, ...(tracer ? [new ObservabilityAdvisor({ tracer })] : [])];
  }

  /** Forgets the spans of the turn before. */
  beginTurn(): void {
    this.tracer?.clear();
  }

  /** The last turn as text: its spans, or without their package its timeline. */
  describeLastTurn(): string | undefined {
    const last = this.inspector.turns().at(-1);
    const turn = last && this.inspector.turn(last.id);
    if (!turn) return undefined;
    return this.tracer ? describeRun(this.tracer.spans) : describeTimeline(turn);
  }

  /** All turns, for an inspector. */
  export(): Promise<ExportedTurns> {
    return this.inspector.export();
  }
}
