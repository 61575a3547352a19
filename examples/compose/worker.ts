// A worker: runs turns of the queue. SIGTERM ends it without losing one.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { DbosTurns } from '../../src/engines/dbos/dbos.js';
import { settings } from './turns.js';

/** Less than the stop_grace_period of compose.yml, by more than two seconds. */
const TIME_LIMIT = 20_000;

DBOS.setConfig(settings);
await DBOS.launch();
process.once('SIGTERM', () => {
  console.log('draining');
  void DbosTurns.drain({ timeLimit: TIME_LIMIT }).then(({ requeued }) => {
    console.log(`drained, ${requeued.length} turns continue elsewhere`);
    process.exit(0);
  });
});
console.log(`${settings.executorID} runs turns`);
