import { expect } from 'chai';
import fc from 'fast-check';
import type { ApprovalRequest, Decision } from '../../../src/index.js';
import { PausingRecorder, TurnRequests } from '../../../advisors/approval/pausing-recorder.js';
import { TurnJournal } from '../../../advisors/approval/turn-journal.js';
import { Cancellation } from '../../../src/core/internal/cancellation.js';
import { canonicalJson, type JsonValue } from '../../../src/core/internal/json.js';
import { failureOf } from '../../support/modes.js';

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
const wait = { place: 'tool pay c', timeout: Infinity, cancellation: new Cancellation() };

/** The requests of a resumed turn with a decision, and its recorder. */
function resumed(request: ApprovalRequest, journal = new TurnJournal()) {
  const requests = new TurnRequests([{ request, decision: allow }]);
  const recorder = new PausingRecorder(journal, requests);
  return { requests, recorder, ask: (again: ApprovalRequest) => recorder.waitFor(again, wait) };
}

describe('the decision on a request', () => {
  it('[F88] counts for the same arguments, and for no others', async () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(json, json, async (shown, called) => {
        const [a, b] = [shown as JsonValue, called as JsonValue];
        const { requests, ask } = resumed(requestOf(a));

        const decision = await ask(requestOf(b)).catch((error: unknown) => error);

        const isSame = canonicalJson(a) === canonicalJson(b);
        expect(decision).to.equal(isSame ? allow : requests.error);
        expect(requests.open).to.have.length(isSame ? 0 : 1);
        expect(await ask(requestOf(a))).to.equal(allow);
      }),
    );
  });

  it('[F88] does not count for another tool, or one that has changed', async () => {
    for (const other of [{ toolName: 'refund' }, { fingerprint: 'g' }]) {
      const { requests, ask } = resumed(requestOf({ amount: 5 }));

      const asked = ask(requestOf({ amount: 5 }, other));

      expect(await failureOf(asked)).to.equal(requests.error);
      expect(requests.open).to.have.length(1);
    }
  });

  it('counts for a call that has ended before its tool has changed', async () => {
    const journal = new TurnJournal([['tool pay c', { result: 'paid' }]]);
    const { ask } = resumed(requestOf({ amount: 5 }), journal);

    expect(await ask(requestOf({ amount: 5 }, { fingerprint: 'g' }))).to.equal(allow);
  });

  it('does not count for a changed tool if only an earlier call with the same id has ended', async () => {
    const journal = new TurnJournal([['tool pay c', { result: 'paid' }]]);
    const { ask, recorder, requests } = resumed(requestOf({ amount: 5 }), journal);
    recorder.nameOf('tool pay c');

    const asked = ask(requestOf({ amount: 5 }, { fingerprint: 'g' }));

    expect(await failureOf(asked)).to.equal(requests.error);
  });

  it('is one error for all calls that wait', async () => {
    const { requests, ask } = resumed(requestOf({}));

    const first = await failureOf(ask(requestOf({ amount: 1 })));
    const second = await failureOf(ask(requestOf({ amount: 2 }, { id: 's' })));

    expect(requests.open.map(({ id }) => id)).to.deep.equal(['r', 's']);
    expect(first).to.equal(second);
  });
});
