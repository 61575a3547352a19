import { AsyncResource } from 'node:async_hooks';

/** Made while this module loads, when no workflow runs. */
const OUTSIDE = new AsyncResource('advisor-chain.outside');

/** Runs what a workflow must not record: DBOS records calls by the asynchronous context that they are made in. */
export function outsideWorkflows<T>(run: () => T): T {
  return OUTSIDE.runInAsyncScope(run);
}

export { DBOS, Error as DbosErrors, StatusString } from '@dbos-inc/dbos-sdk';
