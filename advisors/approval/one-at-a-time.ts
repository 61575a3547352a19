import type { Decision, PendingRequest } from '../../src/core/chat/paused-turn.js';
import { cancellationOf, untilCancelled } from '../../src/core/internal/cancellation.js';
import { checkOption, FUNCTION } from '../../src/core/internal/options.js';
import type { Decide, DecisionContext } from './person.js';

/**
 * Makes `decide` of an `ApprovalAdvisor` ask one question after another, as a terminal needs; without it, all
 * calls of a batch are asked about at once. A turn that is cancelled is not asked, or no longer waited for.
 * @throws {@link InvalidArgumentError} if it gets no function
 */
export function oneAtATime(
  decide: (request: PendingRequest, context: DecisionContext) => Decision | Promise<Decision>,
): Decide {
  checkOption('oneAtATime(…)', 'decide', decide, FUNCTION);
  let last: Promise<unknown> = Promise.resolve();
  return (request, context) => {
    const before = last;
    const asked = before.then(() => {
      context.signal.throwIfAborted();
      return decide(request, context);
    });
    const decision = untilCancelled(asked, cancellationOf(context.signal));
    // one that is cancelled while it waits does not let the next one begin
    last = before.then(() => decision).catch(() => undefined);
    return decision;
  };
}
