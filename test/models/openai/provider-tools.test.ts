import { expect } from 'chai';
import { ChatClient, defineTool } from '../../../src/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import { chunk, sendEvents, sendJson } from '../../support/wire-server.js';

describe('tools that the provider has run', () => {
  const wire = useWireModel();

  for (const mode of MODES)
    for (const type of ['web_search', 'builtin_function', 'custom', 'mcp'])
      it(`[F7] are no calls of ours, also with the name of a tool (${type}, ${mode})`, async () => {
        let runs = 0;
        const search = defineTool({ name: 'search', execute: () => ++runs });
        const call = { index: 0, id: 'a', type, function: { name: 'search', arguments: '{}' } };
        const message = { role: 'assistant', content: 'Found.', tool_calls: [call] };
        wire.answer = (exchange) =>
          mode === 'call'
            ? sendJson(exchange, { choices: [{ message, finish_reason: 'tool_calls' }] })
            : sendEvents(exchange, [chunk(message), chunk({}, 'tool_calls'), '[DONE]']);
        const spec = ChatClient.create(wire.model).prompt('?').tools(search);

        const { chatResponse } = await runSpec(mode, spec);

        expect([chatResponse?.text, runs]).to.deep.equal(['Found.', 0]);
        expect(chatResponse?.hasToolCalls()).to.equal(false);
        expect(wire.server.exchanges).to.have.length(1);
      });
});
