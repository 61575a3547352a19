import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  ChatClient,
  ChatResponse,
  defineTool,
  ObservabilityAdvisor,
  type ChatModel,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  answer,
  ask,
  run,
  SCENES,
  usage,
  weather,
  type Scene,
} from '../../support/traced-turns.js';
import { recordSpans, treeOf, type Recording } from '../../support/recorded-spans.js';
import { MODES } from '../../support/modes.js';

const noon = defineTool({ name: 'noon', description: 'The hour of noon.', execute: () => 12 });

function one({ spans }: Recording, name: string): ReadableSpan {
  const found = spans.filter((span) => span.name === name);
  expect(found, name).to.have.length(1);
  return found[0] as ReadableSpan;
}

describe('ObservabilityAdvisor', () => {
  it('records turn id, conversation, models, usage and counts of a turn [OBS-01] [OBS-03] [OBS-04]', async () => {
    const { spans } = await run('call', SCENES[1] as Scene);
    const turn = spans.find(({ name }) => name === 'invoke_agent')?.attributes ?? {};

    expect(turn['advisor_chain.turn.id']).to.match(/^[0-9a-f]{32}$/);
    expect(turn).to.include({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 'anna-7',
      'gen_ai.request.model': 'scripted',
      'gen_ai.response.model': 'scripted',
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 15,
      'gen_ai.usage.cache_read.input_tokens': 12,
      'gen_ai.usage.reasoning.output_tokens': 6,
      'advisor_chain.turn.iterations': 3,
      'advisor_chain.turn.tool_calls': 4,
      'advisor_chain.outcome': 'success',
    });
  });

  it('records options and response of a model call [OBS-20] [OBS-21]', async () => {
    const recording = recordSpans();
    const model = new ScriptedChatModel([{ text: 'one two', usage, finishReason: 'length' }]);
    const options = {
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      maxTokens: 7,
      frequencyPenalty: 1,
      presencePenalty: -1,
      seed: 4,
    };
    await lastValueFrom(
      ChatClient.create(model)
        .prompt('Hi.')
        .options({ ...options, stopSequences: ['.'], responseFormat: 'json' })
        .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }))
        .stream()
        .chatResponse(),
    );
    const { attributes, kind } = one(recording, 'chat scripted');

    expect(kind).to.equal(2); // a client
    expect(attributes['gen_ai.response.time_to_first_chunk']).to.be.a('number').within(0, 60);
    expect(attributes).to.deep.include({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.stream': true,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.top_k': 3,
      'gen_ai.request.max_tokens': 7,
      'gen_ai.request.frequency_penalty': 1,
      'gen_ai.request.presence_penalty': -1,
      'gen_ai.request.seed': 4,
      'gen_ai.request.stop_sequences': ['.'],
      'gen_ai.output.type': 'json',
      'gen_ai.response.finish_reasons': ['length'],
      'advisor_chain.response.chunks': 2,
      'advisor_chain.iteration': 0,
      'gen_ai.usage.input_tokens': 10,
    });
  });

  it('records tool, call id and iteration of a tool call, without content [OBS-12] [OBS-13]', async () => {
    const recording = await run('call', SCENES[2] as Scene);

    expect(one(recording, 'execute_tool get_ticket').attributes).to.deep.equal({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_ticket',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'scripted_1',
      'advisor_chain.iteration': 0,
      'advisor_chain.outcome': 'success',
    });
  });

  for (const mode of MODES)
    it(`ends every open span as cancelled when a ${mode} is cancelled`, async () => {
      const recording = recordSpans();
      const controller = new AbortController();
      const slow = defineTool({
        name: 'slow',
        execute: (_args, { signal }) =>
          new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          ),
      });
      const spec = ChatClient.create(new ScriptedChatModel([ask('slow'), answer]))
        .prompt('Hi.')
        .tools(slow)
        .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }))
        .signal(controller.signal);
      const done =
        mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse());
      setImmediate(() => controller.abort());
      await done.catch(() => undefined);

      expect(treeOf(recording.spans)).to.equal(
        `
invoke_agent (cancelled)
  advisor tool-calling (cancelled)
    chat scripted
    execute_tool slow (cancelled)`.trim(),
      );
      expect(recording.problems).to.deep.equal([]);
      expect(recording.spans.map(({ status }) => status.code)).to.deep.equal([0, 0, 0, 0]);
    });

  it('ends every open span as cancelled when the subscriber unsubscribes during a stream', () => {
    const recording = recordSpans();
    const subscription = ChatClient.create(
      new ScriptedChatModel([{ text: 'one two three', delay: 1_000 }]),
    )
      .prompt('Hi.')
      .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }))
      .stream()
      .content()
      .subscribe();
    subscription.unsubscribe();

    expect(treeOf(recording.spans)).to.equal(
      'invoke_agent (cancelled)\n  advisor tool-calling (cancelled)\n    chat scripted (cancelled)',
    );
    expect(recording.problems).to.deep.equal([]);
  });

  it('records name and order of an advisor [OBS-09] [OBS-10]', async () => {
    const recording = await run('call', SCENES[7] as Scene);

    expect(one(recording, 'advisor chat-memory').attributes).to.include({
      'advisor_chain.advisor.name': 'chat-memory',
      'advisor_chain.advisor.order': 3_000,
    });
  });

  it('omits unknown attributes and the model name of a model call [OBS-20] [OBS-21]', async () => {
    const recording = recordSpans();
    const model: ChatModel = new ScriptedChatModel(['Hi.']);
    const nameless: ChatModel = {
      defaultOptions: {},
      call: async () => ChatResponse.ofText('Hi.'),
      stream: (prompt) => model.stream(prompt),
    };
    await ChatClient.create(nameless)
      .prompt('Hi.')
      .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }))
      .call()
      .content();

    expect(one(recording, 'chat').attributes).to.deep.equal({
      'gen_ai.operation.name': 'chat',
      'advisor_chain.iteration': 0,
      'advisor_chain.outcome': 'success',
      'gen_ai.response.finish_reasons': ['stop'],
    });
  });

  it('records content with captureContent, by the schemas of the conventions [OBS-07] [OBS-08] [OBS-15] [OBS-25]', async () => {
    const recording = await run(
      'call',
      { ...(SCENES[0] as Scene), tools: [weather, noon], script: [ask('noon'), answer] },
      { captureContent: true },
    );
    const read = (name: string, span: ReadableSpan | undefined): unknown =>
      JSON.parse(span?.attributes[name] as string);
    const [first, second] = recording.spans.filter(({ name }) => name === 'chat scripted');

    expect(read('gen_ai.system_instructions', first)).to.deep.equal([
      { type: 'text', content: 'Be brief.' },
    ]);
    expect(read('gen_ai.input.messages', second)).to.deep.equal([
      { role: 'user', parts: [{ type: 'text', content: 'How is the weather?' }] },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'scripted_1', name: 'noon', arguments: {} }],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'scripted_1', response: 12 }] },
    ]);
    expect(read('gen_ai.output.messages', second)).to.deep.equal([
      {
        role: 'assistant',
        parts: [{ type: 'text', content: 'It is sunny.' }],
        finish_reason: 'stop',
      },
    ]);
    expect(read('gen_ai.tool.definitions', first)).to.have.nested.property('[1].name', 'noon');
    expect(one(recording, 'execute_tool noon').attributes).to.include({
      'gen_ai.tool.description': 'The hour of noon.',
      'gen_ai.tool.call.arguments': '{}',
      'gen_ai.tool.call.result': '12',
    });
  });

  it('takes attributes and span name of the turn as values or functions of the request', async () => {
    const scene = SCENES[0] as Scene;
    const fixed = await run('call', scene, {
      attributes: { 'gen_ai.agent.name': 'support', tier: 'gold' },
    });
    const named = await run('call', scene, {
      spanName: 'support',
      attributes: ({ mode }) => ({ mode }),
    });

    expect(one(fixed, 'invoke_agent support').attributes).to.include({
      'gen_ai.agent.name': 'support',
      tier: 'gold',
    });
    expect(one(named, 'support').attributes).to.include({ mode: 'call' });
  });

  it('measures the time of an advisor without the parts within it', async () => {
    const recording = await run('call', SCENES[1] as Scene);
    const { attributes, duration } = one(recording, 'advisor tool-calling');
    const inside = recording.spans
      .filter(({ name }) => name.startsWith('chat'))
      .reduce((sum, { duration: [seconds, nanos] }) => sum + seconds + nanos / 1e9, 0);
    const exclusive = attributes['advisor_chain.advisor.exclusive_time'] as number;

    expect(exclusive).to.be.at.least(0);
    // the clock of spans counts nanoseconds, ours parts of them
    expect(exclusive).to.be.at.most(duration[0] + duration[1] / 1e9 - inside + 1e-6);
  });
});
