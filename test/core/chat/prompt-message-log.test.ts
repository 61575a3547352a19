import { expect } from 'chai';
import { MessageLog } from '../../../src/core/chat/prompt.js';
import type { Message } from '../../../src/core/chat/message.js';
import fc from 'fast-check';
import { sweep } from '../../support/sweep.js';

const message = (content: string): Message => ({ role: 'user', content });

describe('MessageLog', () => {
  it('is unchanged by appending to it, its ancestors or its siblings', () => {
    const step = fc.record({ from: fc.nat(), count: fc.nat(3), look: fc.boolean() });
    const property = fc.property(fc.nat(3), fc.array(step, { maxLength: 30 }), (start, steps) => {
      const first = Array.from({ length: start }, (_, n) => message(`start ${n}`));
      const logs = [{ log: MessageLog.of(first), expected: first }];

      for (const [at, { from, count, look }] of steps.entries()) {
        const parent = logs[from % logs.length] as (typeof logs)[number];
        const added = Array.from({ length: count }, (_, n) => message(`${at}.${n}`));
        const log = parent.log.append(added);
        if (look) log.toArray();
        logs.push({ log, expected: [...parent.expected, ...added] });
      }

      for (const { log, expected } of logs) {
        expect(log.length).to.equal(expected.length);
        expect(log.toArray()).to.deep.equal(expected);
      }
    });

    fc.assert(property, { numRuns: sweep(2_000) });
  });

  it('folds exactly its own messages, whatever logs of its buffer were folded before', () => {
    const join = (before: string | undefined, added: readonly Message[]): string =>
      (before ?? '') + added.map(textOf).join('');
    const textOf = (one: Message): string => (one.role === 'user' ? (one.content as string) : '');
    const step = fc.record({ from: fc.nat(), count: fc.nat(3), fold: fc.boolean() });

    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const logs = [MessageLog.of([message('start')])];
        for (const [at, { from, count, fold }] of steps.entries()) {
          const parent = logs[from % logs.length] as MessageLog;
          if (fold) parent.fold(join);
          logs.push(parent.append(Array.from({ length: count }, (_, n) => message(`|${at}.${n}`))));
        }

        for (const log of logs) expect(log.fold(join)).to.equal(log.toArray().map(textOf).join(''));
      }),
      { numRuns: sweep(1_000) },
    );
  });

  it('never modifies the array it was created from', () => {
    const messages = [message('a')];

    MessageLog.of(messages).append([message('b')]);

    expect(messages).to.have.lengthOf(1);
  });

  it('returns the same array each time', () => {
    const log = MessageLog.of([message('a')]).append([message('b')]);

    expect(log.toArray()).to.equal(log.toArray());
  });
});
