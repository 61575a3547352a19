import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import {
  comparable,
  gate,
  inBothModes,
  Recording,
  settle,
  type Laws,
  type Trial,
} from './trial.js';

/** Laws 1 and 2: runs are cold, repeatable and independent. */
export const RUN_LAWS: Laws = {
  'is cold: nothing happens before subscribe [law 1]': inBothModes(async (trial) => {
    const { chain } = trial.events();
    await settle();
    assert.equal(chain.runs.length, 0, `${trial.mode}: subscribed the rest of the chain too early`);
  }),
  'keeps no state of a run in its fields [law 1]': inBothModes(async (trial) => {
    if (trial.contract.writesFields) return;
    const { outcome } = await trial.run({ advisor: Object.freeze(trial.contract.create()) });
    const { end, failure } = outcome;
    assert.notEqual(end, 'error', `${trial.mode}: fails when frozen: ${String(failure)}`);
  }),
  'makes each subscription a run of its own [law 2]': inBothModes(async (trial) => {
    const { source, chain } = trial.events();
    const first = await new Recording(source).outcome(trial.timeout);
    const { length } = chain.runs;
    const second = await new Recording(source).outcome(trial.timeout);
    const message = `${trial.mode}: the second run has other events`;
    assert.deepEqual(comparable(second.events), comparable(first.events), message);
    assert.ok(
      trial.contract.answersItself || chain.runs.length === length * 2,
      `${trial.mode}: the second run did not call the rest of the chain again`,
    );
  }),
  'shares nothing between concurrent runs [law 2]': inBothModes(async (trial) => {
    const advisor = trial.contract.create();
    const { opened, open } = gate();
    const { source, chain } = trial.events({
      advisor,
      request: trial.request('anna'),
      pace: (emitNext) => void opened.then(emitNext),
    });
    const pending = new Recording(source);
    await settle();
    const bert = await trial.run({ advisor, request: trial.request('bert') });
    open();
    const anna = { outcome: await pending.outcome(trial.timeout), chain };
    await checkIndependent(trial, 'anna', anna);
    await checkIndependent(trial, 'bert', bert);
  }),
};

type CompleteRun = Awaited<ReturnType<Trial['run']>>;

/** Compares the run of a user beside another one with the same run alone. */
async function checkIndependent(trial: Trial, user: string, run: CompleteRun): Promise<void> {
  const other = user === 'anna' ? 'bert' : 'anna';
  const title = `${trial.mode}, ${user} beside ${other}`;
  const dataOf = ({ outcome, chain }: CompleteRun): readonly unknown[] => [
    outcome.events,
    chain.requests,
  ];
  const printed = inspect(dataOf(run), { depth: 12, maxArrayLength: null });
  assert.ok(!printed.includes(other), `${title}: contains data of ${other}`);
  const alone = await trial.run({ request: trial.request(user) });
  const [data, expected] = [comparable(dataOf(run)), comparable(dataOf(alone))];
  assert.deepEqual(data, expected, `${title}: differs from a run alone`);
}
