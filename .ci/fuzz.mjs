// Checks the properties of parsers, folds, validators and chains with fresh seeds until the time is up.
// Usage: npm run fuzz -- [--minutes N] [--runs N]. Prints seed and shrunk case of a find, and keeps it in test/fixtures/fuzz.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { root } from './commands.mjs';

const TARGETS = [
  'models/http/sse-decoder',
  'chat/stream-fold',
  'tool-execution/check-call.property',
  'internal/json',
  'internal/partial-json',
  'json-schema/validator.property',
  'json-schema/normalize/normalize-schema.property',
  'memory/message-codec',
  'client/template',
  'integration/random-chains',
];

const options = {
  minutes: { type: 'string', default: '1' },
  runs: { type: 'string', default: '2000' },
};
const { values } = parseArgs({ options });
const minutes = String(values.minutes);
const runs = String(values.runs);
const end = performance.now() + Number(minutes) * 60_000;
if (!(end > performance.now())) throw new Error(`--minutes must be a number > 0, not ${minutes}`);

/** Milliseconds; a target that takes longer does not end. */
const LONGEST = 300_000;

/** Runs the tests of a target; false if a property failed, or did not end. */
function check(target) {
  const seed = randomInt(2 ** 31);
  console.log(`${target}, seed ${seed}, ${runs} runs`);
  const args = ['--no-config', '--node-option', 'import=tsx', '--require', 'test/support/hooks.ts'];
  const { status, stdout, stderr, error } = spawnSync(
    'node_modules/.bin/mocha',
    [...args, '--timeout', '600000', '--reporter', 'dot', `test/${target}.test.ts`],
    {
      cwd: root,
      encoding: 'utf8',
      timeout: LONGEST,
      killSignal: 'SIGKILL',
      env: { ...process.env, FC_SEED: `${seed}`, FC_RUNS: runs, FUZZ: 'true' },
    },
  );
  if (status === 0) return true;
  console.log(
    `${stdout}${stderr}${error?.message ?? ''}\nrepeat: FC_SEED=${seed} FC_RUNS=${runs} npm test`,
  );
  return false;
}

let [rounds, finds] = [0, 0];
for (; performance.now() < end || rounds === 0; rounds++) {
  if (!check(TARGETS[rounds % TARGETS.length])) finds++;
}
console.log(`${rounds} rounds, ${finds} finds`);
process.exitCode = finds > 0 ? 1 : 0;
