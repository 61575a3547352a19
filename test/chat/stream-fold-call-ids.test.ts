import { expect } from 'chai';
import type { AssistantMessage, Message } from '../../src/chat/message.js';
import { isCallId } from '../../src/chat/open-calls.js';
import { withUniqueCallIds } from '../../src/chat/stream-fold.js';
import fc from 'fast-check';
import { sweep } from '../support/sweep.js';

const asking = (...ids: readonly string[]): AssistantMessage => ({
  role: 'assistant',
  text: null,
  toolCalls: ids.map((id) => ({ id, name: 'f', arguments: '{}' })),
});

const idsOf = (message: AssistantMessage): readonly string[] =>
  message.toolCalls.map((call) => call.id);

const anyId = fc.constantFrom(
  '',
  'null',
  'undefined',
  'None',
  'call',
  'call_1',
  'call_2',
  'call_2_2',
  'x',
);

describe('withUniqueCallIds', () => {
  it('[F22] gives every call an id that is unique in the conversation', () => {
    const property = fc.property(
      fc.array(fc.array(anyId, { maxLength: 4 }), { maxLength: 4 }),
      (turns) => {
        const conversation = turns.reduce<readonly AssistantMessage[]>(
          (earlier, ids) => [...earlier, withUniqueCallIds(asking(...ids), earlier)],
          [],
        );

        const ids = conversation.flatMap(idsOf);
        expect(new Set(ids).size).to.equal(ids.length);
        expect(ids.every(isCallId)).to.equal(true);
      },
    );

    fc.assert(property, { numRuns: sweep(2_000) });
  });

  it('returns a message with unique ids unchanged', () => {
    const message = asking('a', 'b');

    expect(withUniqueCallIds(message, [asking('c')])).to.equal(message);
  });

  it('[F22] generates missing ids and adds a suffix to repeated ones, except the first', () => {
    const conversation: readonly Message[] = [
      asking('x'),
      { role: 'tool', toolCallId: 'x', toolName: 'f', content: '1' },
    ];

    expect(idsOf(withUniqueCallIds(asking('x', 'y', 'y', 'null'), conversation))).to.deep.equal([
      'x_2',
      'y',
      'y_2',
      'call_5',
    ]);
  });

  it('counts on if a generated id is taken', () => {
    expect(idsOf(withUniqueCallIds(asking(''), [asking('call_2')]))).to.deep.equal(['call_3']);
  });

  it('is deterministic', () => {
    const ids = [0, 1].map(() => idsOf(withUniqueCallIds(asking('', 'x', ''), [asking('x')])));

    expect(ids[0]).to.deep.equal(ids[1]);
  });

  it('returns a message without calls unchanged', () => {
    const message = asking();

    expect(withUniqueCallIds(message, [])).to.equal(message);
  });
});

describe('isCallId', () => {
  it('rejects the placeholders of servers without ids', () => {
    for (const id of ['', 'null', 'undefined', 'None', null, undefined])
      expect(isCallId(id)).to.equal(false);
    expect(isCallId('none')).to.equal(true);
  });
});
