import type { CustomEvent } from '../chat/chat-event.js';
import { notify } from '../internal/notify.js';
import type { GuardPlace } from '../errors/guard-error.js';
import type { GuardAction } from './guard-options.js';
import type { Hit, Policies } from './policies.js';

/** Data of the event `guard`: names and kinds, never a part of the text. */
export interface GuardReport {
  /** Name of the advisor. */
  readonly guard: string;
  readonly where: GuardPlace | 'tool-call';
  /** `pass`: a rule failed, and its policy lets the text pass; `refuse`: a tool did not run. */
  readonly action: GuardAction | 'pass' | 'refuse';
  /** Names of the rules. */
  readonly rules: readonly string[];
  /** Kinds of what they found. */
  readonly kinds: readonly string[];
  readonly toolName?: string | undefined;
}

declare module '../chat/chat-event.js' {
  interface CustomEvents {
    guard: GuardReport;
  }
}

/** One event for each policy that found something, or whose rules failed; the listener gets it first. */
export function guardEvents(
  { guard, where, options }: Policies,
  hits: readonly Hit[],
  toolName?: string,
): readonly CustomEvent[] {
  const groups = new Map<string, { action: GuardReport['action']; own: Hit[] }>();
  const ids = new Map<object, number>();
  for (const hit of hits) {
    const { policy, failed } = hit;
    const id = ids.get(policy) ?? ids.size;
    ids.set(policy, id);
    const action = failed ? 'pass' : policy.action;
    const group = groups.get(`${id} ${action}`) ?? { action, own: [] };
    groups.set(`${id} ${action}`, group);
    group.own.push(hit);
  }
  return [...groups.values()].map(({ action, own }) =>
    guardEvent(options, {
      guard,
      where,
      action,
      rules: [...new Set(own.map(({ rule }) => rule))],
      kinds: [...new Set(own.flatMap(({ kinds }) => kinds))],
      ...(toolName !== undefined && { toolName }),
    }),
  );
}

export function guardEvent({ onFinding }: Policies['options'], data: GuardReport): CustomEvent {
  notify(() => onFinding?.(data));
  return { type: 'custom', name: 'guard', data };
}
