import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { ChatClient, defineTool, type ChatClientResponse, type Tool } from '../../../src/index.js';
import type { Json } from '../../support/cassettes.js';
import { MODES, runSpec, RUNS } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import { sendEvents, sendJson, sendText, completion } from '../../support/wire-server.js';

const CALL = { index: 0, id: 'a', type: 'function', function: { name: 'pay', arguments: '{}' } };

type Choice = readonly [message: Json, finishReason: string];
const FINAL: Choice = [{ content: 'the answer' }, 'stop'];
const OTHER: Choice = [{ content: 'something else' }, 'stop'];
const ASKS: Choice = [{ content: null, tool_calls: [CALL] }, 'tool_calls'];

/** Streams of the same choices, by the way in which a server sends them. */
const framings: Record<string, (choices: readonly Choice[]) => readonly Json[]> = {
  'one after the other': (choices) =>
    choices.flatMap(([delta, finish_reason], index) => [
      { choices: [{ index, delta }] },
      { choices: [{ index, delta: {}, finish_reason }] },
    ]),
  'the last one first': (choices) =>
    choices
      .map(([delta, finish_reason], index) => ({ choices: [{ index, delta, finish_reason }] }))
      .toReversed(),
  'in the same chunks': (choices) => [
    { choices: choices.map(([delta], index) => ({ index, delta })) },
    { choices: choices.map(([, finish_reason], index) => ({ index, delta: {}, finish_reason })) },
  ],
  'in the same chunks, without numbers': (choices) => [
    { choices: choices.map(([delta]) => ({ delta })) },
    { choices: choices.map(([, finish_reason]) => ({ delta: {}, finish_reason })) },
  ],
};

describe('several choices', () => {
  const wire = useWireModel();
  let ran = 0;
  const pay: Tool = defineTool({ name: 'pay', effect: 'write', execute: () => ++ran });

  beforeEach(() => (ran = 0));

  function answerWith(choices: readonly Choice[], events: readonly Json[]): void {
    wire.answer = (exchange) => {
      const isStream = exchange.body['stream'] === true;
      if (exchange.index > 0) {
        if (isStream) sendText(exchange, 'after the tool');
        else sendJson(exchange, completion('after the tool'));
      } else if (isStream) sendEvents(exchange, [...events, '[DONE]']);
      else
        sendJson(exchange, {
          choices: choices.map(([message, finish_reason]) => ({ message, finish_reason })),
        });
    };
  }

  for (const [framing, toEvents] of Object.entries(framings)) {
    for (const mode of MODES) {
      const run = async (
        choices: readonly Choice[],
      ): Promise<ChatClientResponse['chatResponse']> => {
        answerWith(choices, toEvents(choices));
        const spec = ChatClient.create(wire.model).prompt('Pay.').tools(pay);
        return (await runSpec(mode, spec)).chatResponse;
      };

      it(`[D57] end the turn if the first one is final: ${framing}, ${mode}`, async () => {
        const response = await run([FINAL, ASKS]);

        expect([response?.text, ran, wire.server.exchanges.length]).to.deep.equal([
          'the answer',
          0,
          1,
        ]);
        expect(response?.generations.map(({ message }) => callsOf(message).length)).to.deep.equal([
          0, 1,
        ]);
      });

      it(`[D57] run the tools of the first one alone: ${framing}, ${mode}`, async () => {
        const response = await run([ASKS, ASKS, FINAL]);

        expect([response?.text, ran]).to.deep.equal(['after the tool', 1]);
      });

      it(`[D57] run no tool of a first one that was cut off: ${framing}, ${mode}`, async () => {
        const response = await run([[ASKS[0], 'abort'], ASKS]);

        expect([response?.text, ran]).to.deep.equal(['after the tool', 0]);
      });
    }

    for (const [mode, textOf] of RUNS)
      it(`[D57] show the text of the first one: ${framing}, ${mode}`, async () => {
        answerWith([FINAL, OTHER], toEvents([FINAL, OTHER]));

        expect(await textOf(ChatClient.create(wire.model).prompt('?'))).to.equal('the answer');
      });
  }
});
