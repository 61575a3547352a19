import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { KillPoints } from './kill-points.js';

/** Milliseconds in which a wait has surely begun: the decision is sent afterwards. */
const BEGINNING = 25;

/** A wait for a decision that has begun. */
export interface Waiting {
  readonly decide: string;
  readonly turnId: string;
}

type RunStep = typeof DBOS.runStep;
type Receive = typeof DBOS.recv;

/** Adds places around each step of DBOS: before it, in it, after its work, and after its record. */
export function addStepPoints(points: KillPoints): void {
  const runStep = DBOS.runStep.bind(DBOS) as RunStep;
  DBOS.runStep = ((work: () => Promise<unknown>, config: { name: string }) => {
    const step = `step ${config.name}`;
    const worked = async (): Promise<unknown> => {
      points.reach(`${step}: begun`);
      const value = await work();
      points.reach(`${step}: worked`);
      return value;
    };
    points.reach(`${step}: before`);
    return runStep(worked, config).then((value) => {
      points.reach(`${step}: recorded`);
      return value;
    });
  }) as RunStep;
}

/** Adds places around waits, and reports each wait that has begun. */
export function addWaitPoints(points: KillPoints, onWaiting: (wait: Waiting) => void): void {
  const receive = DBOS.recv.bind(DBOS) as Receive;
  DBOS.recv = (async (topic: string, options: Parameters<Receive>[1]) => {
    const turnId = DBOS.workflowID ?? '';
    points.reach('wait: before');
    const received = receive(topic, options);
    void delay(BEGINNING).then(() => {
      points.reach('wait: waiting');
      onWaiting({ decide: topic, turnId });
    });
    const value = await received;
    points.reach('wait: received');
    return value;
  }) as Receive;
}

/** A module of DBOS that its package does not export. */
function internalsOf(module: string): unknown {
  const require = createRequire(import.meta.url);
  return require(join(dirname(require.resolve('@dbos-inc/dbos-sdk')), module)) as unknown;
}

/** The methods that write for a turn; those that read end as those that follow them begin. */
const WRITES = ['recordOperationResult', 'recordWorkflowOutput', 'recordWorkflowError', 'recv'];

/** Adds places around each write to the database of DBOS. */
export function addDatabasePoints(points: KillPoints): void {
  const { SystemDatabase } = internalsOf('system_database.js') as {
    readonly SystemDatabase: { readonly prototype: object };
  };
  points.addToMethods('database', SystemDatabase.prototype, WRITES);
}

/** Milliseconds between two looks of DBOS at its database, in place of a second. */
const POLL = 20;

/** Looks for turns to continue more often; before `DBOS.launch()`. */
export function recoverFaster(): void {
  const { registerInternalQueue } = internalsOf('wfqueue.js') as {
    readonly registerInternalQueue: (name: string, options: object) => void;
  };
  registerInternalQueue('_dbos_internal_queue', { minPollingIntervalMs: POLL });
}

/** Looks for results more often; after `DBOS.launch()`. */
export function answerFaster(): void {
  const { DBOSExecutor } = internalsOf('dbos-executor.js') as {
    readonly DBOSExecutor: {
      readonly globalInstance: { readonly systemDatabase: Record<string, number> };
    };
  };
  DBOSExecutor.globalInstance.systemDatabase['dbPollingIntervalResultMs'] = POLL;
}
