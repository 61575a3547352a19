import { trace, type Tracer } from '@opentelemetry/api';
import { AlwaysOffSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { first, firstValueFrom, mergeMap, Observable } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  ObservabilityAdvisor,
  ToolCallingManager,
  ToolCallingAdvisor,
  type Advisor,
  type ChatModel,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import {
  recordSpans,
  treeOf,
  useContextManager,
  type Recording,
} from '../../support/recorded-spans.js';

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

interface Setting {
  readonly script: Script;
  readonly tools?: readonly Tool[];
  readonly advisors?: readonly Advisor[];
}

function observed({ script, tools = [], advisors = [] }: Setting): {
  client: ChatClient;
  recording: Recording;
} {
  const recording = recordSpans();
  const builder = ChatClient.builder(new ScriptedChatModel(script)).defaultTools(...tools);
  const client = builder
    .defaultAdvisors(new ObservabilityAdvisor({ tracer: recording.tracer }), ...advisors)
    .build();
  return { client, recording };
}

describe('span of a part', () => {
  it('starts when its part starts and ends when its part ends', async () => {
    const { tracer, spans } = recordSpans();
    const log: string[] = [];
    const startSpan: Tracer['startSpan'] = (name, options, parent) => {
      log.push(name);
      return tracer.startSpan(name, options, parent);
    };
    const look = defineTool({
      name: 'look',
      execute: () => void log.push(`ended: ${spans.map(({ name }) => name).join()}`),
    });
    await ChatClient.create(new ScriptedChatModel([{ toolCalls: [{ name: 'look' }] }, 'Done.']))
      .prompt('Hi.')
      .tools(look)
      .advisors(new ObservabilityAdvisor({ tracer: { startSpan } }))
      .call()
      .content();

    expect(log).to.deep.equal([
      'invoke_agent',
      'advisor tool-calling',
      'chat scripted',
      'execute_tool look',
      'ended: chat scripted',
      'chat scripted',
    ]);
    expect(spans.map(({ name }) => name)).to.deep.equal([
      'chat scripted',
      'execute_tool look',
      'chat scripted',
      'advisor tool-calling',
      'invoke_agent',
    ]);
  });

  it('is the active span of its tool', async () => {
    const stop = useContextManager();
    let active: string | undefined;
    const look = defineTool({
      name: 'look',
      execute: () => void (active = trace.getActiveSpan()?.spanContext().spanId),
    });
    const { client, recording } = observed({
      script: [{ toolCalls: [{ name: 'look' }] }, 'Done.'],
      tools: [look],
    });
    await client.prompt('Hi.').call().content();
    stop();

    const span = recording.spans.find(({ name }) => name === 'execute_tool look');
    expect(span?.spanContext().spanId).to.equal(active);
  });

  it('succeeds when the subscriber leaves after the response', async () => {
    const leaving: Advisor = {
      name: 'leaving',
      order: AdvisorOrder.LOGGER,
      advise: (request, chain) =>
        chain.next(request).pipe(first(({ type }) => type === 'response')),
    };
    const { client, recording } = observed({
      script: [{ text: 'Hi.', usage }],
      advisors: [leaving],
    });
    await firstValueFrom(
      client
        .prompt('Hi.')
        .stream()
        .events()
        .pipe(first(({ type }) => type === 'response')),
    );

    expect(
      recording.spans.map(({ attributes }) => attributes['advisor_chain.outcome']),
    ).to.deep.equal(Array(4).fill('success'));
    expect(recording.spans.find(({ name }) => name === 'chat scripted')?.attributes).to.include({
      'gen_ai.usage.input_tokens': 10,
    });
    expect(recording.problems).to.deep.equal([]);
  });

  it('does not start for a subscriber that has left', async () => {
    const talking: Advisor = {
      name: 'talking',
      order: AdvisorOrder.OBSERVABILITY - 1,
      advise: (request, chain) =>
        new Observable((subscriber) => {
          subscriber.next({ type: 'text-delta', text: 'Well, ' });
          chain.next(request).subscribe(subscriber);
        }),
    };
    const { client, recording } = observed({ script: ['Hi.'], advisors: [talking] });
    await firstValueFrom(client.prompt('Hi.').stream().content());

    expect(recording.spans).to.deep.equal([]);
    expect(recording.problems).to.deep.equal([]);
  });

  it('contains the spans that its advisor starts on a response', async () => {
    const stop = useContextManager();
    try {
      const recording = recordSpans();
      const { tracer } = recording;
      const query = (name: string): void => tracer.startSpan(name).end();
      const tapping: Advisor = {
        name: 'tapping',
        order: AdvisorOrder.MEMORY,
        advise: (request, chain) =>
          chain.next(request).pipe(
            mergeMap(async (event) => {
              await Promise.resolve();
              if (event.type === 'response') query('in mergeMap');
              return event;
            }),
          ),
      };
      const listening = defineAdvisor({
        name: 'listening',
        order: AdvisorOrder.GUARD,
        onEvent: ({ type }) => void (type === 'response' && query('in onEvent')),
      });
      await ChatClient.create(new ScriptedChatModel(['Hi.']))
        .prompt('Hi.')
        .advisors(new ObservabilityAdvisor({ tracer }), tapping, listening)
        .call()
        .content();
      const parentOf = (name: string): string | undefined => {
        const span = recording.spans.find((each) => each.name === name);
        return recording.spans.find(
          (each) => each.spanContext().spanId === span?.parentSpanContext?.spanId,
        )?.name;
      };

      expect(parentOf('in mergeMap')).to.equal('advisor tapping');
      expect(parentOf('in onEvent')).to.equal('advisor listening');
    } finally {
      stop();
    }
  });

  it('captures no content when a sampler drops the span', async () => {
    const seen: string[] = [];
    const tracer = new BasicTracerProvider({ sampler: new AlwaysOffSampler() }).getTracer('test');
    const redact = (text: string): string => (seen.push(text), text);
    await ChatClient.create(new ScriptedChatModel(['Hi.']))
      .prompt('secret')
      .advisors(new ObservabilityAdvisor({ tracer, captureContent: true, redact }))
      .call()
      .content();

    expect(seen).to.deep.equal([]);
  });

  it('has the iteration that called its tool, in a second run as well', async () => {
    const now = defineTool({ name: 'now', execute: () => 12 });
    const twice = defineAdvisor({
      name: 'twice',
      order: AdvisorOrder.GUARD,
      around: async (request, next) => {
        await next(request);
        return next(request);
      },
    });
    const calling = { toolCalls: [{ name: 'now' }] };
    const { client, recording } = observed({
      script: [calling, 'One.', calling, 'Two.'],
      tools: [now],
      advisors: [twice],
    });
    await client.prompt('Hi.').call().content();
    const tools = recording.spans.filter(({ name }) => name === 'execute_tool now');

    expect(tools.map(({ attributes }) => attributes['advisor_chain.iteration'])).to.deep.equal([
      0, 0,
    ]);
  });

  it('has the outcome timeout only if the tool call failed with the timeout', async () => {
    const slow = defineTool({
      name: 'slow',
      timeout: 5,
      execute: ({ signal }: never) => new Promise(() => signal),
    });
    const again = defineAdvisor({
      name: 'again',
      order: AdvisorOrder.GUARD,
      aroundTool: async (invocation, next) => {
        await next(invocation).catch(() => undefined);
        throw new TypeError('no');
      },
    });
    const script: Script = [{ toolCalls: [{ name: 'slow' }] }, 'Hi.'];
    const manager = new ToolCallingManager();
    const timedOut = observed({
      script,
      tools: [slow],
      advisors: [new ToolCallingAdvisor({ manager })],
    });
    await timedOut.client.prompt('Hi.').call().content();
    const other = observed({ script, tools: [slow], advisors: [again] });
    await other.client
      .prompt('Hi.')
      .call()
      .content()
      .catch(() => undefined);

    expect(treeOf(timedOut.recording.spans)).to.include(
      'execute_tool slow (timeout, timeout, advisor_chain.timeout, exception)',
    );
    expect(treeOf(other.recording.spans)).to.include(
      'execute_tool slow (error, TypeError, advisor_chain.timeout, exception)',
    );
  });

  it('has the conversation id on model calls too', async () => {
    const { client, recording } = observed({ script: ['Hi.'] });
    await client
      .prompt('Hi.')
      .advisors((a) => a.param(CONVERSATION_ID, 'anna-7'))
      .call()
      .content();

    expect(recording.spans.find(({ name }) => name === 'chat scripted')?.attributes).to.include({
      'gen_ai.conversation.id': 'anna-7',
    });
  });

  it('is recorded for a model without default options', async () => {
    const recording = recordSpans();
    const scripted = new ScriptedChatModel(['Hi.']);
    const model = {
      call: (prompt, run) => scripted.call(prompt, run),
      stream: (prompt, run) => scripted.stream(prompt, run),
    } as ChatModel;
    const advisor = new ObservabilityAdvisor({ tracer: recording.tracer });

    expect(
      await ChatClient.create(model).prompt('Hi.').advisors(advisor).call().content(),
    ).to.equal('Hi.');
    expect(recording.problems).to.deep.equal([]);
  });
});
