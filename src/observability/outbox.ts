/** Something recorded that waits for a tracer or a meter. */
export interface Waiting {
  /** Gives it to its tracer or meter. */
  handOn(): void;
}

/** Milliseconds that something waits at most, and how much waits at most. */
const LONGEST_WAIT = 5_000;
const MAX_WAITING = 256;

/**
 * What was recorded, on its way to tracers and meters: it is handed on together, since in the middle of a turn, between work of other kinds, each
 * step of an SDK takes several times as long as in one go. Exporters let it wait as long again.
 */
export class Outbox {
  private waiting: Waiting[] = [];
  private isHandingOn = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param report told of what tracers and meters throw */
  constructor(private readonly report: (error: unknown) => void) {}

  add(waiting: Waiting): void {
    const count = this.waiting.push(waiting);
    if (count === MAX_WAITING) this.handOn();
    else this.timer ??= this.startTimer();
  }

  /** Hands on what waits, in the order in which it came, and what comes of that. */
  handOn(): void {
    if (this.isHandingOn) return; // what is added meanwhile comes last, not in the middle of what it comes of
    this.isHandingOn = true;
    for (const each of this.waiting) {
      try {
        each.handOn();
      } catch (error) {
        this.report(error);
      }
    }
    this.waiting = [];
    this.isHandingOn = false;
  }

  private startTimer(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => {
      this.timer = undefined;
      this.handOn();
    }, LONGEST_WAIT);
    // no process goes on for it; in a browser there is nothing to hold up
    (timer as { readonly unref?: () => void }).unref?.();
    return timer;
  }
}
