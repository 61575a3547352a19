import { expect } from 'chai';
import fc from 'fast-check';
import { MessageLog } from '../../src/chat/message-log.js';
import type { Message } from '../../src/chat/message.js';

const message = (content: string): Message => ({ role: 'user', content });

describe('MessageLog', () => {
  it('is never changed by what is appended to it, to its ancestors or to its siblings', () => {
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

    fc.assert(property, { numRuns: 2_000 });
  });

  it('does not write into the array it was made of', () => {
    const messages = [message('a')];

    MessageLog.of(messages).append([message('b')]);

    expect(messages).to.have.lengthOf(1);
  });

  it('gives the same array each time', () => {
    const log = MessageLog.of([message('a')]).append([message('b')]);

    expect(log.toArray()).to.equal(log.toArray());
  });
});
