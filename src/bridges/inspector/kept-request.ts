import type { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import type { ObservedRequest } from '../../core/observation/observation.js';

/** Origins that are followed; an advisor may pass an earlier request on again. */
const MAX_ORIGINS = 1_000;

/**
 * The parts of a request that a model gets, and the parts of each request before it that an advisor has
 * changed. The requests themselves would keep all that belonged to their run.
 */
export function keptRequest(request: ObservedRequest): ObservedRequest {
  const origins: NonNullable<ObservedRequest['origin']>[] = [];
  let { origin } = request;
  while (origin && origins.length < MAX_ORIGINS) {
    origins.push(origin);
    ({ origin } = origin.received);
  }
  let from = origins.at(-1)?.received ?? request;
  let kept = partsOf(from, undefined);
  for (let at = origins.length - 1; at >= 0; at--) {
    const to = origins[at - 1]?.received ?? request;
    const advisor = origins[at]?.advisor;
    if (advisor && !isSame(from, to)) {
      const { name, role } = advisor;
      kept = partsOf(to, { advisor: { name, role }, received: kept });
    }
    from = to;
  }
  return kept;
}

function partsOf(
  { prompt, offeredTools, model }: ObservedRequest,
  origin: ObservedRequest['origin'],
): ObservedRequest {
  return { prompt, offeredTools, model, origin };
}

function isSame(one: ObservedRequest, other: ObservedRequest): boolean {
  const [a, b] = [one as ChatClientRequest, other as ChatClientRequest];
  return (
    a.prompt === b.prompt && a.model === b.model && a.tools === b.tools && a.unlocked === b.unlocked
  );
}
