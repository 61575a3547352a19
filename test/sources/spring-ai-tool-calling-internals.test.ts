/** Detection, parsing and execution of tool calls: an analysis of the sources of Spring AI, step by step. */
import { expect } from 'chai';
import {
  ChatClient,
  ChatResponse,
  defineTool,
  Prompt,
  ToolCallingAdvisor,
  ToolCallingManager,
  type ChatEvent,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { runBatch } from '../support/batch.js';
import { MODES, runSpec } from '../support/modes.js';
import { calls, resultsIn } from '../support/tool-search.js';
import { useWireModel } from '../support/wire-model.js';
import { sendJson } from '../support/wire-server.js';

const station = defineTool({
  name: 'next_train',
  description: 'The next train to a place.',
  input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  execute: ({ to }) => `8:15 to ${String(to)}`,
});
const CALL = {
  id: 'call_7',
  type: 'function',
  function: { name: 'next_train', arguments: '{"to":"Graz"}' },
};
const answerOf = (message: object, reason: string | null): object => ({
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
});

describe('source: how tool calls are detected and run', () => {
  const wire = useWireModel();

  it('request with definition, answer with call, execution, request with result, answer', async () => {
    wire.answer = (exchange) =>
      sendJson(
        exchange,
        exchange.index === 0
          ? answerOf({ content: null, tool_calls: [CALL] }, 'tool_calls')
          : answerOf({ content: 'At 8:15.' }, 'stop'),
      );

    const text = await ChatClient.create(wire.model)
      .prompt('When can I go to Graz?')
      .tools(station)
      .call()
      .content();

    expect(text).to.equal('At 8:15.');
    const [first, second] = wire.server.exchanges.map(({ body }) => body);
    expect(first).to.have.nested.property('tools[0].function.name', 'next_train');
    expect(first?.['messages']).to.have.lengthOf(1);
    expect(second?.['messages']).to.deep.equal([
      { role: 'user', content: 'When can I go to Graz?' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'call_7', content: '8:15 to Graz' },
    ]);
  });

  describe('detection', () => {
    it('an answer has tool calls if its list of calls is not empty', () => {
      const responseWith = (count: number): ChatResponse =>
        new ChatResponse({
          generations: [
            {
              message: {
                role: 'assistant',
                content: null,
                toolCalls: Array.from({ length: count }, (_, at) => ({
                  id: `${at}`,
                  name: 'a',
                  arguments: '{}',
                })),
              },
            },
          ],
        });

      expect([0, 1, 2].map((count) => responseWith(count).hasToolCalls())).to.deep.equal([
        false,
        true,
        true,
      ]);
    });

    for (const [reason, runs] of [
      ['TOOL_CALLS', true],
      ['function_call', true],
      ['stop', false],
      [null, false],
    ] as const)
      it(`both the calls and the finish reason ${String(reason)} are checked on demand`, async () => {
        wire.answer = (exchange) =>
          sendJson(
            exchange,
            exchange.index === 0
              ? answerOf({ content: 'Wait.', tool_calls: [CALL] }, reason)
              : answerOf({ content: 'At 8:15.' }, 'stop'),
          );
        const accepted = new Set(['tool_calls', 'function_call']);
        const loop = new ToolCallingAdvisor({
          toolExecutionEligibilityChecker: (response) =>
            response.hasToolCalls() && accepted.has((response.finishReason ?? '').toLowerCase()),
        });

        const text = await ChatClient.create(wire.model)
          .prompt('?')
          .tools(station)
          .advisors(loop)
          .call()
          .content();

        expect(text).to.equal(runs ? 'At 8:15.' : 'Wait.');
      });

    it('a finish reason without calls is an answer', async () => {
      wire.answer = (exchange) => sendJson(exchange, answerOf({ content: 'No.' }, 'tool_calls'));

      const text = await ChatClient.create(wire.model).prompt('?').tools(station).call().content();

      expect(text).to.equal('No.');
      expect(wire.server.exchanges).to.have.lengthOf(1);
    });

    it('by default the calls of a complete answer run, also with the finish reason stop', async () => {
      wire.answer = (exchange) =>
        sendJson(
          exchange,
          exchange.index === 0
            ? answerOf({ content: null, tool_calls: [CALL] }, 'stop')
            : answerOf({ content: 'At 8:15.' }, 'stop'),
        );

      const text = await ChatClient.create(wire.model).prompt('?').tools(station).call().content();

      expect(text).to.equal('At 8:15.');
    });

    it('calls of an answer that was cut off do not run', async () => {
      const ran: unknown[] = [];
      const tool = defineTool({ name: 'act', execute: () => void ran.push(1) });
      const model = new ScriptedChatModel([
        { ...calls('act'), finishReason: 'length' },
        { text: 'I stop.' },
      ]);

      await ChatClient.create(model).prompt('?').tools(tool).call().content();

      expect(ran).to.deep.equal([]);
      expect(model.prompts.map(resultsIn)[1]?.[0]).to.match(/cut off/);
    });
  });

  it('the answer of a provider becomes text, calls, finish reason and metadata', async () => {
    wire.answer = (exchange) =>
      sendJson(exchange, {
        id: 'r1',
        model: 'm-2',
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        ...answerOf({ content: 'I look.', tool_calls: [CALL] }, 'tool_calls'),
      });

    const response = await wire.model.call(new Prompt('?', { tools: [station] }));

    expect(response).to.deep.include({ id: 'r1', model: 'm-2', finishReason: 'tool_calls' });
    expect(response.usage?.totalTokens).to.equal(5);
    expect(response.message).to.deep.include({
      role: 'assistant',
      content: 'I look.',
      toolCalls: [{ id: 'call_7', name: 'next_train', arguments: '{"to":"Graz"}' }],
    });
  });

  describe('execution', () => {
    it('each call finds its tool by name, else by the resolver; its result has id and name', async () => {
      const { messages } = await runBatch(
        [station],
        [
          { id: 'x', name: 'next_train', args: { to: 'Linz' } },
          { id: 'y', name: 'elsewhere' },
        ],
        { resolver: (name) => defineTool({ name, execute: () => `resolved ${name}` }) },
      );

      expect(messages).to.deep.equal([
        { role: 'tool', toolCallId: 'x', toolName: 'next_train', content: '8:15 to Linz' },
        { role: 'tool', toolCallId: 'y', toolName: 'elsewhere', content: 'resolved elsewhere' },
      ]);
    });

    it('arguments are parsed from JSON text, and refused if they are none', async () => {
      const { results } = await runBatch([station], [{ name: 'next_train', args: '{"to":' }]);

      expect(results[0]).to.include({ accepted: false });
      expect(results[0]?.result).to.include({ isError: true });
    });

    it('the model only asks: the manager runs the calls, and the next prompt has the results', async () => {
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'next_train', arguments: { to: 'Graz' } }] },
      ]);
      const prompt = new Prompt('?', { tools: [station] });

      const response = await model.call(prompt);
      const { history } = await new ToolCallingManager().executeToolCalls(prompt, response);

      expect(history.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool']);
    });
  });

  for (const mode of MODES)
    it(`a client does all steps, and keeps them as a report (${mode})`, async () => {
      const { steps, text, transcript } = await runSpec(mode, graz());

      expect(text).to.equal('At 8:15.');
      expect(steps[0]?.toolCalls[0]?.result?.content).to.equal('8:15 to Graz');
      expect(transcript.map(({ role }) => role)).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'assistant',
      ]);
    });

  it('a stream emits the call and its result before the answer', async () => {
    const types: ChatEvent['type'][] = [];

    for await (const { type } of graz().stream().events()) types.push(type);

    expect(types.filter((type) => !type.endsWith('delta'))).to.deep.equal([
      'iteration-start',
      'iteration',
      'tool-call',
      'tool-start',
      'tool-result',
      'step',
      'iteration-start',
      'response',
    ]);
  });
});

/** A turn with one call. */
function graz() {
  const call = { name: 'next_train', arguments: { to: 'Graz' } };
  const model = new ScriptedChatModel([{ toolCalls: [call] }, 'At 8:15.']);
  return ChatClient.create(model).prompt('?').tools(station);
}
