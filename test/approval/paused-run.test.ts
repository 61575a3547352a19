import { expect } from 'chai';
import fc from 'fast-check';
import type { ApprovalRequest, Decision } from '../../src/index.js';
import { PausedRun } from '../../src/approval/paused-run.js';
import { TurnJournal } from '../../src/approval/turn-journal.js';
import { RunRecord } from '../../src/chat/run-record.js';
import { DurableRun } from '../../src/durable/durable-run.js';
import { canonicalJson, type JsonValue } from '../../src/internal/json.js';

const requestOf = (args: JsonValue, more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  type: 'approval',
  id: 'r',
  toolName: 'pay',
  callId: 'c',
  arguments: args,
  argumentsText: canonicalJson(args),
  prompt: 'Pay?',
  effect: 'write',
  scopes: ['once'],
  fingerprint: 'f',
  ...more,
});
const allow: Decision = { type: 'allow' };
const runWith = (request: ApprovalRequest, journal = new TurnJournal()): PausedRun =>
  new PausedRun(journal, [{ request, decision: allow }]);

describe('the decision on a request', () => {
  it('[F88] counts for the same arguments, and for no others', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(json, json, (shown, called) => {
        const [a, b] = [shown as JsonValue, called as JsonValue];
        const run = runWith(requestOf(a));

        const decision = run.request(requestOf(b));

        const isSame = canonicalJson(a) === canonicalJson(b);
        expect(decision).to.equal(isSame ? allow : undefined);
        expect(run.requests).to.have.length(isSame ? 0 : 1);
        expect(run.request(requestOf(a))).to.equal(allow);
      }),
    );
  });

  it('[F88] does not count for another tool, or one that has changed', () => {
    for (const other of [{ toolName: 'refund' }, { fingerprint: 'g' }]) {
      const run = runWith(requestOf({ amount: 5 }));

      expect(run.request(requestOf({ amount: 5 }, other))).to.equal(undefined);
      expect(run.requests).to.have.length(1);
    }
  });

  it('counts for a call that has ended before its tool has changed', () => {
    const journal = new TurnJournal([['tool pay c', { result: 'paid' }]]);
    const run = runWith(requestOf({ amount: 5 }), journal);
    const durable = DurableRun.begin(new RunRecord(undefined), journal);

    expect(
      run.request(requestOf({ amount: 5 }, { fingerprint: 'g' }), durable, 'tool pay c'),
    ).to.equal(allow);
  });

  it('does not count for a changed tool if only an earlier call with the same id has ended', () => {
    const journal = new TurnJournal([['tool pay c', { result: 'paid' }]]);
    const run = runWith(requestOf({ amount: 5 }), journal);
    const durable = DurableRun.begin(new RunRecord(undefined), journal);
    durable.nameOf('tool pay c');

    const decision = run.request(
      requestOf({ amount: 5 }, { fingerprint: 'g' }),
      durable,
      'tool pay c',
    );

    expect(decision).to.equal(undefined);
  });

  it('is one error for all calls that wait', () => {
    const run = new PausedRun(new TurnJournal());

    run.request(requestOf({ amount: 1 }));
    run.request(requestOf({ amount: 2 }, { id: 's' }));

    expect(run.requests.map(({ id }) => id)).to.deep.equal(['r', 's']);
    expect(run.error).to.equal(run.error);
  });
});
