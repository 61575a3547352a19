import { expect } from 'chai';
import { ChatClient, defineTool, type Tool } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { answerWith, asking, runBatch, toCalls } from '../../support/batch.js';
import { jsonList, loadCassettes, type Cassette, type Json } from '../../support/cassettes.js';
import { MODES, runSpec } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import { chunk, completion, sendEvents, sendJson, sendText } from '../../support/wire-server.js';

/** A tool that records that it ran. */
function recorder(ran: unknown[]): Tool {
  return defineTool({
    name: 'pay',
    effect: 'write',
    input: {
      type: 'object',
      properties: { to: { type: 'string' }, note: { type: 'string' } },
      required: ['to', 'note'],
    },
    execute: (args) => ran.push(args),
  });
}

const WHOLE = '{"to":"Ann","note":"a \\"b\\" 😀"}';

describe('an answer that was broken off', () => {
  const complete = ['stop', 'STOP', 'tool_calls', 'TOOL_CALL', 'tool-calls', 'toolUse', 'tool_use', 'function_call', 'end_turn', 'stop_sequence', 'eos', 'eos_token', 'COMPLETE', 'completed', '']; // prettier-ignore
  for (const finishReason of complete)
    it(`[D49] is not assumed for the finish reason "${finishReason}"`, async () => {
      const { contents } = await runBatch(
        [defineTool({ name: 'a', execute: () => 'x' })],
        answerWith(toCalls(['a', 'a']), finishReason),
      );

      expect(contents).to.deep.equal(['x', 'x']);
    });

  it('[D49] is not assumed without a finish reason', async () => {
    const response = asking('a');
    const generations = response.generations.map(({ message }) => ({ message }));
    const { contents } = await runBatch(
      [defineTool({ name: 'a', execute: () => 'x' })],
      response.with({ generations }),
    );

    expect(contents).to.deep.equal(['x']);
  });

  const broken = ['length', 'MAX_TOKENS', 'model_length', 'max_output_tokens', 'model_context_window_exceeded', 'content_filter', 'safety', 'sensitive', 'refusal', 'guardrail_intervened', 'abort', 'aborted', 'error', 'network_error', 'insufficient_system_resource', 'incomplete', 'in_progress', 'pause_turn', 'cancelled', 'timeout', 'other', 'unknown', 'a reason of tomorrow', 'x'.repeat(1_000)]; // prettier-ignore
  for (const finishReason of broken)
    it(`[D49] runs nothing after the finish reason "${finishReason.slice(0, 40)}"`, async () => {
      const ran: unknown[] = [];
      const { contents } = await runBatch(
        [recorder(ran)],
        answerWith(
          toCalls([
            { name: 'pay', args: WHOLE },
            { name: 'pay', args: WHOLE },
          ]),
          finishReason,
        ),
      );

      expect(ran).to.deep.equal([]);
      expect(contents).to.have.length(2);
      for (const content of contents)
        expect(content)
          .to.match(/^Not run: your answer was cut off/)
          .and.include(finishReason.slice(0, 60))
          .and.have.property('length')
          .that.is.below(250);
    });

  it('[D49] has none of the finish reasons with which providers ask for tools', function () {
    const reasons = new Set(loadCassettes(this).flatMap(reasonsWithCalls));

    expect([...reasons].toSorted()).to.deep.equal(['', 'stop', 'tool_calls']);
  });

  describe('on the wire', () => {
    const wire = useWireModel();
    const calls = ['1', '2'].map((id, index) => {
      return { index, id, type: 'function', function: { name: 'pay', arguments: WHOLE } };
    });

    for (const mode of MODES)
      for (const finishReason of ['abort', 'insufficient_system_resource', 'error', 'length'])
        it(`[D49] has its calls sent again after "${finishReason}", in a ${mode}`, async () => {
          const ran: unknown[] = [];
          wire.answer = (exchange) => {
            const message = { role: 'assistant', content: null, tool_calls: calls };
            const choices = [{ index: 0, message, finish_reason: finishReason }];
            const isFirst = exchange.index === 0;
            if (mode === 'call') sendJson(exchange, isFirst ? { choices } : completion('Sorry.'));
            else if (isFirst)
              sendEvents(exchange, [
                chunk({ tool_calls: calls }),
                chunk({}, finishReason),
                '[DONE]',
              ]);
            else sendText(exchange, 'Sorry.');
          };
          const spec = ChatClient.create(wire.model).prompt('Pay.').tools(recorder(ran));

          const { chatResponse } = await runSpec(mode, spec);

          expect([chatResponse?.text, ran]).to.deep.equal(['Sorry.', []]);
          const sent = jsonList(wire.server.exchanges[1]?.body['messages']).slice(-2);
          for (const { role, content } of sent)
            expect(`${String(role)}: ${String(content)}`).to.match(/^tool: Not run: .*cut off/);
        });
  });
});

describe('a batch with a call that was cut off', () => {
  const positions: Record<string, (cut: string) => readonly string[]> = {
    'after a whole one': (cut) => [WHOLE, cut],
    'before a whole one': (cut) => [cut, WHOLE],
    'between whole ones': (cut) => [WHOLE, cut, WHOLE],
  };
  for (const mode of MODES)
    for (const [place, argumentsOf] of Object.entries(positions))
      it(`[F13] [D49] runs nothing, wherever it was cut off ${place}, in a ${mode}`, async () => {
        const ran: unknown[] = [];
        for (let length = 0; length < WHOLE.length; length++) {
          const toolCalls = argumentsOf(WHOLE.slice(0, length)).map((text) => {
            return { name: 'pay', arguments: text };
          });
          const model = new ScriptedChatModel([
            { toolCalls, finishReason: 'tool_calls' },
            'Sorry.',
          ]);
          const { chatResponse } = await runSpec(
            mode,
            ChatClient.create(model).prompt('Pay.').tools(recorder(ran)),
          );

          expect(chatResponse?.text).to.equal('Sorry.');
          const results = model.prompts[1]?.messages.slice(-toolCalls.length) ?? [];
          expect(results.every((each) => each.role === 'tool' && each.isError)).to.equal(true);
        }
        expect(ran).to.deep.equal([]);
      });

  it('[D49] runs nothing if its name is unknown', async () => {
    const ran: unknown[] = [];
    const { contents } = await runBatch(
      [recorder(ran)],
      [
        { name: 'pay', args: WHOLE },
        { name: 'pa', args: '{"to"' },
      ],
    );

    expect(ran).to.deep.equal([]);
    expect(contents[0]).to.match(/^Not run: .* Send all calls again\.$/);
    expect(contents[1]).to.match(/^There is no tool "pa"/);
  });

  it('runs the others if a call is wrong, but whole', async () => {
    const wrong = [
      "{'to':'Ann'}",
      '{"to":1}',
      '{"to":"Ann","to":"Bob"}',
      '[]',
      '1',
      'null',
      '{} x',
    ];
    for (const args of wrong) {
      const ran: unknown[] = [];
      const { contents } = await runBatch(
        [recorder(ran)],
        [
          { name: 'pay', args: WHOLE },
          { name: 'pay', args },
          { name: 'none', args: '' },
        ],
      );

      expect(ran, args).to.have.length(1);
      expect(contents[1]).to.match(/^The arguments of "pay" are not valid/);
    }
  });
});

/** The finish reasons of the recorded answers with tool calls. */
function reasonsWithCalls({ interactions }: Cassette): readonly string[] {
  return interactions.flatMap(({ response: { status, body, sse = [] } }) => {
    if (status !== 200) return [];
    const events = sse.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text));
    const choices = [body, ...events].flatMap((each) =>
      jsonList((each as Json | null)?.['choices']),
    );
    const asks = choices.some((choice) => {
      const message = (choice['message'] ?? choice['delta']) as Json | null;
      return jsonList(message?.['tool_calls']).length > 0;
    });
    const reasons = choices
      .map((choice) => choice['finish_reason'])
      .filter(Boolean)
      .map(String);
    return asks ? [...(reasons.length > 0 ? reasons : [''])] : [];
  });
}
