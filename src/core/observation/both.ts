import type { Observation, ObservedEnding, ObservedEvent, ObservedPart } from './observation.js';

/** Reports one part of a run to two observers: the first is the outer one. */
export function both(outer: Observation, inner: Observation): Observation {
  return new Both(outer, inner);
}

class Both implements Observation {
  constructor(
    private readonly outer: Observation,
    private readonly inner: Observation,
  ) {}

  begin(part: ObservedPart): Observation {
    return new Both(this.outer.begin(part), this.inner.begin(part));
  }

  note(event: ObservedEvent): void {
    this.outer.note(event);
    this.inner.note(event);
  }

  run<T>(work: () => T): T {
    return this.outer.run(() => this.inner.run(work));
  }

  end(ending: ObservedEnding): void {
    this.inner.end(ending);
    this.outer.end(ending);
  }
}
