// A worker of a fleet: node fleet-worker.mjs <settings as JSON> <executor id>
import { DBOS } from '@dbos-inc/dbos-sdk';
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
  logLevel: process.env['FLEET_LOG'] ?? 'error',
});
await DBOS.launch();
process.stdout.write('ready\n');
