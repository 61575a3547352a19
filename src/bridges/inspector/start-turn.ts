import type { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import type { PromptSpec } from '../../core/client/chat-client.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { PAGE_START } from './inspected-source.js';

const NOT_RECORDED =
  'Inspector: the turn was not recorded; in production, set allowInProduction of the inspector, too';

type Mode = ChatClientRequest['mode'];

/**
 * Runs a turn for the page, and resolves with its id in the inspector when it has begun.
 * @throws the error of a turn that has not begun
 */
export function startTurn(spec: PromptSpec, mode: Mode): Promise<string> {
  return new Promise((resolve, reject) => {
    const started = spec.advisors((a) => a.param(PAGE_START, { begun: resolve }));
    // an end has no effect after the beginning: the page shows it
    runToEnd(started, mode).then(() => reject(new InvalidArgumentError(NOT_RECORDED)), reject);
  });
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
