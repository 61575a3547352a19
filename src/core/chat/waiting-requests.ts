import { RunSlot } from './context.js';
import type { Decision, PendingRequest } from './paused-turn.js';
import type { RunRecord } from './run-record.js';

/** A request for which a run waits. */
interface WaitingRequest {
  readonly request: PendingRequest;
  readonly decide: (decision: Decision) => void;
}

const WAITING = new RunSlot<Set<WaitingRequest>>();

/**
 * The requests for which functions of the application are asked now, of a run and of the runs within it. Others
 * may decide them by {@link decideWaiting}.
 */
export function waitingRequests(run: RunRecord): readonly PendingRequest[] {
  return [...(WAITING.get(run) ?? [])].map(({ request }) => request);
}

/** Decides a request of {@link waitingRequests}; false if it does not wait. */
export function decideWaiting(run: RunRecord, id: string, decision: Decision): boolean {
  const waiting = [...(WAITING.get(run) ?? [])].find(({ request }) => request.id === id);
  waiting?.decide(decision);
  return waiting !== undefined;
}

/** Adds a request to a run and to those around it; returns the function that removes it. */
export function addWaiting(
  run: RunRecord | undefined,
  request: PendingRequest,
  decide: WaitingRequest['decide'],
): () => void {
  const waiting = { request, decide };
  const sets: Set<WaitingRequest>[] = [];
  for (let at = run; at; at = at.parent) sets.push(WAITING.get(at) ?? WAITING.set(at, new Set()));
  for (const set of sets) set.add(waiting);
  return () => sets.forEach((set) => set.delete(waiting));
}
