import { ContextKey, type AdvisorContext } from '../chat/context.js';
import { CHANGEABLE_PARTS, type ChatClientRequest } from './chat-client-request.js';

const SENT_REQUEST = new ContextKey<ChatClientRequest | undefined>('advisor-chain.sent-request');

/**
 * The request that the model received for an answer: its tools and its transcript are those of the
 * turn, also if advisors to the right of the caller have changed them.
 */
export function sentRequest(
  request: ChatClientRequest,
  context: AdvisorContext,
): ChatClientRequest {
  const sent = context.get(SENT_REQUEST);
  // an advisor that answers by itself may return the context of an earlier iteration or run
  return sent?.run === request.run && sent.base === request.base ? sent : request;
}

/** The context of an answer to a request, from which {@link sentRequest} finds the request. */
export function withSentRequest(
  context: AdvisorContext,
  sent: ChatClientRequest | undefined,
): AdvisorContext {
  return sent || context.has(SENT_REQUEST) ? context.with(SENT_REQUEST, sent) : context;
}

/** The context of an answer to a request: with the request if advisors have changed parts that the loop adopts. */
export function answerContext(request: ChatClientRequest): AdvisorContext {
  const { base, context, added } = request;
  const isChanged = base
    ? CHANGEABLE_PARTS.some((part) => request[part] !== base[part])
    : added.length > 0;
  return withSentRequest(context, isChanged ? request : undefined);
}
