import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { comparable, gate, inBothModes, Recording, settle, type Laws, Trial } from './trial.js';

/** Laws 1 and 2: runs are cold, repeatable and independent. */
export const RUN_LAWS: Laws = {
  'is cold: nothing happens before subscribe [law 1]': inBothModes(async (trial) => {
    trial.events();
    await settle();
    assert.equal(trial.runs.length, 0, `${trial.mode}: subscribed the rest of the chain too early`);
  }),
  'keeps no state of a run in its fields [law 1]': inBothModes(async (trial) => {
    if (trial.contract.writesFields) return;
    const { end, failure } = await trial.again(Object.freeze(trial.contract.create())).run();
    assert.notEqual(end, 'error', `${trial.mode}: fails when frozen: ${String(failure)}`);
  }),
  'makes each subscription a run of its own [law 2]': inBothModes(async (trial) => {
    const { mode, runs, contract } = trial;
    const events = trial.events();
    const first = await trial.run(events);
    const { length } = runs;
    const second = await trial.run(events);
    const message = `${mode}: the second run has other events`;
    assert.deepEqual(comparable(second.events), comparable(first.events), message);
    const isCalledAgain = contract.answersItself || runs.length === length * 2;
    assert.ok(isCalledAgain, `${mode}: the second run did not call the rest of the chain`);
  }),
  'shares nothing between concurrent runs [law 2]': inBothModes(async (trial) => {
    const advisor = trial.contract.create();
    const { opened, open } = gate();
    const anna = trial.again(advisor, (emitNext) => void opened.then(emitNext));
    const bert = trial.again(advisor);
    const pending = new Recording(anna.events(anna.request('anna')));
    await settle();
    // a whole run while the first one is pending
    const ended = await bert.run(bert.events(bert.request('bert')));
    open();
    await checkIndependent(anna, await pending.outcome(trial.timeout), 'anna', 'bert');
    await checkIndependent(bert, ended, 'bert', 'anna');
  }),
};

/** Compares the run of a user beside another one with the same run alone. */
async function checkIndependent(
  trial: Trial,
  outcome: Recording,
  user: string,
  other: string,
): Promise<void> {
  const title = `${trial.mode}, ${user} beside ${other}`;
  const data = [outcome.events, trial.runs.map(({ request }) => request)];
  const printed = inspect(data, { depth: 12, maxArrayLength: null });
  assert.ok(!printed.includes(other), `${title}: contains data of ${other}`);
  const alone = new Trial(trial.contract, trial.mode);
  const { events } = await alone.run(alone.events(alone.request(user)));
  const expected = [events, alone.runs.map(({ request }) => request)];
  assert.deepEqual(comparable(data), comparable(expected), `${title}: differs from a run alone`);
}
