import type { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import type { PromptSpec } from '../../core/client/chat-client.js';
import { CancelledError } from '../../core/errors/errors.js';
import { PAGE_START } from './inspected-source.js';

type Mode = ChatClientRequest['mode'];

/** The turns that the page has started, and that have not ended. */
export class PageTurns {
  private readonly running = new Map<string, AbortController>();

  /**
   * Runs a turn to its end, and resolves with its id in the inspector when it has begun.
   * @throws the error of a turn that has not begun
   */
  start(spec: PromptSpec, mode: Mode): Promise<string> {
    const own = new AbortController();
    return new Promise((resolve, reject) => {
      let begunAs: string | undefined;
      const begun = (id: string): void => {
        begunAs ??= id;
        this.running.set(begunAs, own);
        resolve(begunAs);
      };
      const end = (error?: unknown): void => {
        if (begunAs !== undefined) this.running.delete(begunAs);
        reject(error as Error); // without an effect for a turn that has begun: the page shows its error
      };
      const started = spec.signal(own.signal).advisors((a) => a.param(PAGE_START, { begun }));
      runToEnd(started, mode).then(() => end(), end);
    });
  }

  /** Cancels a turn; false if it has ended, or was not started here. */
  cancel(id: string): boolean {
    const controller = this.running.get(id);
    controller?.abort(new CancelledError('The turn was cancelled in the inspector.'));
    return controller !== undefined;
  }
}

/** Without its events, which the inspector has: nothing of a stream is kept here. */
function runToEnd(spec: PromptSpec, mode: Mode): Promise<unknown> {
  if (mode === 'call') return spec.call().chatClientResponse();
  return new Promise<void>((resolve, reject) => {
    spec
      .stream()
      .events()
      .subscribe({ next: () => undefined, complete: resolve, error: reject });
  });
}
