export type StepEnd = 'recorded' | 'replayed' | 'failed';

/** A step of a turn: its end in this execution, and whether an earlier one had begun it, and not ended. */
export interface ShownStep {
  readonly step: string;
  readonly end: 'running' | StepEnd;
  readonly wasInterrupted?: boolean;
}

/** The steps of a turn and of turns within it, for inspectors. */
export class ShownSteps {
  /** By name, in the order of their beginnings. */
  private readonly steps = new Map<string, ShownStep>();

  begin(step: string, wasInterrupted: boolean): void {
    this.steps.set(step, { step, end: 'running', ...(wasInterrupted && { wasInterrupted }) });
  }

  end(step: string, end: StepEnd): void {
    const begun = end === 'replayed' ? undefined : this.steps.get(step);
    this.steps.set(step, { ...begun, step, end });
  }

  list(): readonly ShownStep[] {
    return [...this.steps.values()];
  }
}
