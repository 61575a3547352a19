import { currentReason } from '../../core/internal/give-up.js';

/** The end of a model call that was given up: the reason of its advisor, true without one, as by an operator of RxJS. */
export interface Abandoned {
  readonly abandoned: string | true;
}

/** The abandonment of a model call, which may come before its step has begun. */
export class Abandonment {
  end: Abandoned | undefined;
  onBegin: ((end: Abandoned) => void) | undefined;
  private isOver = false;
  private settle = (): void => undefined;

  /** @param holdUntil lets later steps begin when the step of the call has ended */
  constructor(private readonly holdUntil: (recorded: Promise<void>) => void) {}

  /** The call is given up; not after its step has ended. */
  readonly begin = (): void => {
    if (this.isOver || this.end) return;
    this.end = { abandoned: currentReason() ?? true };
    // what the advisor does next must not be recorded before
    this.holdUntil(new Promise((resolve) => (this.settle = resolve)));
    this.onBegin?.(this.end);
  };

  /** The step of the call has ended. */
  readonly finish = (): void => {
    this.isOver = true;
    this.settle();
  };
}
