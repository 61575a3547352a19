import { expect } from 'chai';
import { merge, takeWhile } from 'rxjs';
import type { ChatClientRequest } from '../../../src/core/advisor/chat-client-request.js';
import { Position } from '../../../src/core/advisor/position.js';
import type { ChatEvent } from '../../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../../src/core/chat/chat-response.js';
import { AdvisorContext } from '../../../src/core/chat/context.js';
import type { Subscriber } from '../../../src/core/internal/rxjs.js';
import { requestFor } from '../../support/runs.js';

const delta = (text: string): ChatEvent => ({ type: 'text-delta', text });
const answer = (text: string): ChatEvent => ({
  type: 'response',
  response: ChatResponse.ofText(text),
  context: AdvisorContext.empty,
});

/** A position whose attempts emit the events of the test. */
function attempts(): { readonly position: Position; readonly open: Subscriber<ChatEvent>[] } {
  const open: Subscriber<ChatEvent>[] = [];
  const subscribe = (_request: ChatClientRequest, subscriber: Subscriber<ChatEvent>): void => {
    open.push(subscriber);
  };
  return { position: new Position({ source: 'the rest', subscribe }, []), open };
}

describe('a position of the chain', () => {
  it('[D3] retracts with the first event of the next attempt, not before it', () => {
    const { position, open } = attempts();
    const events: ChatEvent[] = [];
    const next = position.next(requestFor('stream'));
    next.subscribe({ next: (event) => events.push(event), error: () => undefined });

    open[0]?.next(delta('half'));
    open[0]?.error(new Error('cut'));
    next.subscribe((event) => events.push(event));
    const before = events.length;
    open[1]?.next(delta('whole'));

    expect(before).to.equal(1);
    expect(events.slice(1)).to.deep.equal([{ type: 'retract', iteration: 0 }, delta('whole')]);
  });

  it('[D3] retracts what a pending attempt streams if another one answers nothing', () => {
    const { position, open } = attempts();
    const events: ChatEvent[] = [];
    const next = position.next(requestFor('stream'));
    merge(next, next)
      .pipe(takeWhile(({ type }) => type !== 'response', true))
      .subscribe((event) => events.push(event));

    open[0]?.next(delta('half'));
    open[1]?.next(answer(''));

    expect(events).to.deep.equal([delta('half'), { type: 'retract', iteration: 0 }, answer('')]);
  });

  it('[D3] retracts an iteration of which nothing was streamed', () => {
    const { position, open } = attempts();
    const types: string[] = [];
    const next = position.next(requestFor('stream'));
    next.subscribe({ next: ({ type }) => types.push(type), error: () => undefined });

    open[0]?.next({ type: 'iteration', index: 0, response: ChatResponse.ofText('') });
    open[0]?.error(new Error('cut'));
    next.subscribe(({ type }) => types.push(type));
    open[1]?.next({ type: 'iteration', index: 0, response: ChatResponse.ofText('') });

    expect(types).to.deep.equal(['iteration', 'retract', 'iteration']);
  });

  it('[D3] drops deltas of an attempt whose text was replaced', () => {
    const { position, open } = attempts();
    const events: ChatEvent[] = [];
    const next = position.next(requestFor('stream'));
    merge(next, next).subscribe((event) => events.push(event));

    open[0]?.next(delta('half'));
    open[1]?.next(delta('dropped'));
    open[1]?.next(answer('whole'));
    open[0]?.next(delta(' of it'));

    expect(events).to.deep.equal([
      delta('half'),
      { type: 'retract', iteration: 0 },
      delta('whole'),
      answer('whole'),
    ]);
  });
});
