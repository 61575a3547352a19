import type { UIMessageChunk } from './ui-message-chunk.js';

/** The steps of a message: one for each iteration, and one for an answer that replaces a void one. */
export class MessageSteps {
  /** The iteration of each step that is not void, in order. */
  private readonly iterations: number[] = [];
  /** The iteration of what comes next. */
  private current = 0;
  private isOpen = false;

  constructor(private readonly push: (chunk: UIMessageChunk) => void) {}

  /** Notes a step that the page has from before the pause. */
  see(iteration: number): void {
    this.current = iteration;
    this.iterations.push(iteration);
  }

  begin(iteration: number): void {
    this.see(iteration);
    this.isOpen = true;
    this.push({ type: 'start-step' });
  }

  /** Begins a step unless one is open: content without a step could not be voided. */
  ensure(): void {
    if (!this.isOpen) this.begin(this.current);
  }

  finish(): void {
    if (this.isOpen) this.push({ type: 'finish-step' });
    this.isOpen = false;
  }

  /** Voids the steps of an iteration and of later ones, and returns their number. */
  void(iteration: number): number {
    this.current = iteration;
    const from = this.iterations.findIndex((index) => index >= iteration);
    return from === -1 ? 0 : this.iterations.splice(from).length;
  }
}
