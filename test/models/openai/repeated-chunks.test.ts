import { expect } from 'chai';
import { ChatClient, defineTool } from '../../../src/index.js';
import { RUNS } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import { chunk, sendEvents } from '../../support/wire-server.js';

describe('repeated chunks of a stream', () => {
  const wire = useWireModel();

  // a server may answer a call by events too
  for (const [mode, run] of RUNS) {
    it(`[D45] run a tool with effects once (${mode})`, async () => {
      const keys: string[] = [];
      const pay = defineTool({
        name: 'pay',
        input: { type: 'object', properties: { cents: { type: 'integer' } } },
        effect: 'write',
        execute: (_, { idempotencyKey }) => (keys.push(idempotencyKey), 'Paid.'),
      });
      const call = {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'pay', arguments: '{"cents":500}' },
      };
      const calls = chunk({ tool_calls: [call] });
      let requests = 0;
      wire.answer = (exchange) =>
        sendEvents(
          exchange,
          requests++ === 0
            ? [calls, calls, chunk({}, 'tool_calls')]
            : [chunk({ content: 'Done.' }), chunk({}, 'stop')],
        );

      const text = await run(ChatClient.create(wire.model).prompt('Pay.').tools(pay));

      expect(text).to.equal('Done.');
      expect(keys).to.have.length(1);
    });
  }
});
