import type { Advisor } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { originsOf } from '../../src/core/advisor/invariants.js';
import { prefixOf, type Prefix } from './prefix.js';

/**
 * The prefix that an advisor received before it changed the request; without the advisor itself, which
 * may belong to one turn and hold its data.
 */
export interface Stage {
  readonly name: string;
  readonly role: Advisor['role'] | undefined;
  readonly received: Prefix;
}

/** A prefix that a model has received, and the changes of advisors that led to it. */
export class SentPrefix {
  readonly prefix: Prefix;
  private request: ChatClientRequest | undefined;
  private known: readonly Stage[] = [];

  /** @param cachedTokens tokens that were in the cache after the request, as reported */
  constructor(
    request: ChatClientRequest,
    readonly cachedTokens: number | undefined,
  ) {
    this.prefix = prefixOf(request);
    this.request = request;
  }

  /** From the last change; few requests are asked for it. */
  get stages(): readonly Stage[] {
    this.settle();
    return this.known;
  }

  /** Lets the request go: it outlives its turn at the cost of garbage collection. */
  settle(): void {
    const { request } = this;
    this.request = undefined;
    if (!request?.origin) return;
    this.known = originsOf(request).map(({ advisor: { name, role }, received }) => {
      return { name, role, received: prefixOf(received) };
    });
  }
}
