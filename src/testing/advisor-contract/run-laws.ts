import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { runAdvisor } from '../../advisor/advisor-chain.js';
import type { ChatClientRequest } from '../../advisor/chat-client-request.js';
import { comparable } from './comparable-data.js';
import { ANSWER, USER } from './scenarios.js';
import {
  ASYNCHRONOUS,
  gate,
  MODES,
  Recording,
  ScenarioChain,
  settle,
  type Laws,
  type Trial,
} from './trial.js';

/** Laws 1 and 2: runs are cold, repeatable and independent. */
export const RUN_LAWS: Laws = {
  'is cold: nothing happens before subscribe [law 1]': async (trial) => {
    for (const mode of MODES) {
      const advisor = trial.contract.create();
      const chain = new ScenarioChain([advisor], ANSWER);
      runAdvisor(advisor, trial.request(mode), chain);
      await settle();
      assert.equal(chain.runs.length, 0, `${mode}: subscribed the rest of the chain too early`);
    }
  },
  'keeps no state of a run in its fields [law 1]': async (trial) => {
    if (trial.contract.writesFields) return;
    for (const mode of MODES) {
      const frozen = Object.freeze(trial.contract.create());
      const { outcome } = await trial.run(ANSWER, trial.request(mode), ASYNCHRONOUS, frozen);
      const { end, failure } = outcome;
      assert.notEqual(end, 'error', `${mode}: fails when frozen: ${String(failure)}`);
    }
  },
  'makes each subscription a run of its own [law 2]': async (trial) => {
    for (const mode of MODES) {
      const advisor = trial.contract.create();
      const chain = new ScenarioChain([advisor], ANSWER);
      const events = runAdvisor(advisor, trial.request(mode), chain);
      const first = await new Recording(events).outcome(trial.timeout);
      const { length } = chain.runs;
      const second = await new Recording(events).outcome(trial.timeout);
      const message = `${mode}: the second run has other events`;
      assert.deepEqual(comparable(second.events), comparable(first.events), message);
      if (trial.contract.answersItself) continue;
      assert.equal(
        chain.runs.length,
        length * 2,
        `${mode}: the second run did not call the rest of the chain again`,
      );
    }
  },
  'shares nothing between concurrent runs [law 2]': async (trial) => {
    for (const mode of MODES) {
      const advisor = trial.contract.create();
      const { opened, open } = gate();
      const anna = trial.request(mode, 'anna');
      const bert = trial.request(mode, 'bert');
      const annasChain = new ScenarioChain(
        [advisor],
        ANSWER,
        (emitNext) => void opened.then(() => emitNext()),
      );
      const recording = new Recording(runAdvisor(advisor, anna, annasChain));
      await settle();
      // a whole run while the first one is pending
      const run = await trial.run(ANSWER, bert, ASYNCHRONOUS, advisor);
      open();
      await checkIndependent(trial, anna, await recording.outcome(trial.timeout), annasChain);
      await checkIndependent(trial, bert, run.outcome, run.chain);
    }
  },
};

/** Compares a run beside another one with the same run alone. */
async function checkIndependent(
  trial: Trial,
  request: ChatClientRequest,
  outcome: Recording,
  chain: ScenarioChain,
): Promise<void> {
  const user = request.context.get(USER);
  const other = user === 'anna' ? 'bert' : 'anna';
  const title = `${request.mode}, ${user} beside ${other}`;
  const requestsOf = ({ runs }: ScenarioChain): readonly ChatClientRequest[] =>
    runs.map((run) => run.request);
  const data = [outcome.events, requestsOf(chain)];
  const printed = inspect(data, { depth: 12, maxArrayLength: null });
  assert.ok(!printed.includes(other), `${title}: contains data of ${other}`);
  const alone = await trial.run(ANSWER, request);
  const expected = [alone.outcome.events, requestsOf(alone.chain)];
  assert.deepEqual(comparable(data), comparable(expected), `${title}: differs from a run alone`);
}
