// Parts of Temporal's packages that the recipe uses, in memory: its server is a download, so it cannot run here.
import { setTimeout } from 'node:timers/promises';

/** The state of the server: the handlers of the workflow, and how it starts the activity. */
export const server = { handlers: new Map(), attempt: undefined };

export const defineSignal = (name) => name;
export const defineQuery = (name) => name;
export const setHandler = (name, handler) => void server.handlers.set(name, handler);
export const proxyActivities = () => ({ attempt: (...args) => server.attempt(...args) });
export const workflowInfo = () => ({ workflowId: 'turn-1' });
export const sleep = (milliseconds) => setTimeout(milliseconds, undefined, { ref: false });
export const heartbeat = () => undefined;

export async function condition(isTrue) {
  while (!isTrue()) await setTimeout(5);
}
