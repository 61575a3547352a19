import { expect } from 'chai';
import type { Decision, PendingRequest } from '../../../src/core/chat/paused-turn.js';
import { RunRecord } from '../../../src/core/chat/run-record.js';
import {
  addWaiting,
  decideWaiting,
  waitingRequests,
} from '../../../src/core/chat/waiting-requests.js';

const request: PendingRequest = {
  type: 'question',
  id: 'q',
  toolName: 'look',
  callId: 'call_1',
  prompt: 'Where?',
  schema: { type: 'string' },
};

describe('requests for which a run waits', () => {
  it('are apart for two agents whose calls have equal ids', () => {
    const outer = new RunRecord();
    const decided: string[] = [];
    const [first, second] = ['first', 'second'].map((name) => {
      const run = new RunRecord(outer);
      const decide = ({ type }: Decision): void => void decided.push(`${name}: ${type}`);
      return { run, remove: addWaiting(run, request, decide) };
    });
    const both = waitingRequests(outer).length;

    first?.remove();

    expect(both).to.equal(2);
    expect(waitingRequests(outer)).to.deep.equal([request]);
    expect(decideWaiting(outer, 'q', { type: 'cancel' })).to.equal(true);
    expect(decided).to.deep.equal(['second: cancel']);
    second?.remove();
    expect(decideWaiting(outer, 'q', { type: 'cancel' })).to.equal(false);
  });
});
