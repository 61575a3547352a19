// A worker of a fleet: node fleet-worker.mjs <settings as JSON> <executor id>
import { DBOS } from '@dbos-inc/dbos-sdk';
import { DbosTurns } from '../../../src/engines/dbos/dbos.js';
import { fleetProcess, VERSION, type FleetConfig } from './fleet-turns.js';

const [settings = '', executorID = ''] = process.argv.slice(2);
const config = JSON.parse(settings) as FleetConfig;
fleetProcess(config, executorID);
DBOS.setConfig({
  name: 'fleet',
  systemDatabaseUrl: config.url,
  systemDatabasePoolSize: config.poolSize,
  applicationVersion: VERSION,
  executorID,
  logLevel: 'error',
});
process.once('SIGTERM', () => {
  process.stdout.write('draining\n');
  void DbosTurns.drain({ timeLimit: config.drainTime ?? 1000 }).then(({ requeued }) => {
    process.stdout.write(`drained ${requeued.join()}\n`, () => process.exit(0));
  });
});
await DBOS.launch();
process.stdout.write('ready\n');
