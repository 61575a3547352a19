import type {
  Observation,
  ObservedEnding,
  ObservedEvent,
  ObservedPart,
} from '../../src/core/observation/observation.js';

/** Keeps what it receives, for tests of what a part of the library reports. */
export class RecordedObservation implements Observation {
  readonly parts: ObservedPart[] = [];
  readonly notes: ObservedEvent[] = [];
  readonly endings: ObservedEnding[] = [];

  begin(part: ObservedPart): this {
    this.parts.push(part);
    return this;
  }

  note(event: ObservedEvent): void {
    this.notes.push(event);
  }

  run<T>(work: () => T): T {
    return work();
  }

  end(ending: ObservedEnding): void {
    this.endings.push(ending);
  }
}
