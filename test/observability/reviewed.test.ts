import { context } from '@opentelemetry/api';
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
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { recordSpans, treeOf, useContextManager, type Recording } from './spans.js';

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

interface Setting {
  readonly script: Script;
  readonly tools?: readonly Tool[];
  readonly advisors?: readonly Advisor[];
}

function observed({ script, tools = [], advisors = [] }: Setting): { client: ChatClient; recording: Recording } {
  const recording = recordSpans();
  const builder = ChatClient.builder(new ScriptedChatModel(script)).defaultTools(...tools);
  const client = builder.defaultAdvisors(new ObservabilityAdvisor({ tracer: recording.tracer }), ...advisors).build();
  return { client, recording };
}

describe('spans of a turn', () => {
  it('are those of a success where somebody has the response and leaves', async () => {
    const early: Advisor = {
      name: 'early',
      order: AdvisorOrder.LOGGER,
      advise: (request, chain) => chain.next(request).pipe(first(({ type }) => type === 'response')),
    };
    const { client, recording } = observed({ script: [{ text: 'Hi.', usage }], advisors: [early] });
    await firstValueFrom(
      client
        .prompt('Hi.')
        .stream()
        .events()
        .pipe(first(({ type }) => type === 'response')),
    );

    expect(recording.spans.map(({ attributes }) => attributes['advisor_chain.outcome'])).to.deep.equal(Array(4).fill('success'));
    expect(recording.spans.find(({ name }) => name === 'chat scripted')?.attributes).to.include({ 'gen_ai.usage.input_tokens': 10 });
    expect(recording.problems).to.deep.equal([]);
  });

  it('are not begun for who has gone', async () => {
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

  it('nest what an advisor does when it hears of an answer in its own', async () => {
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
      const hearing = defineAdvisor({
        name: 'hearing',
        order: AdvisorOrder.GUARD,
        onEvent: ({ type }) => void (type === 'response' && query('in onEvent')),
      });
      await ChatClient.create(new ScriptedChatModel(['Hi.']))
        .prompt('Hi.')
        .advisors(new ObservabilityAdvisor({ tracer }), tapping, hearing)
        .call()
        .content();
      const parentOf = (name: string): string | undefined => {
        const span = recording.spans.find((each) => each.name === name);
        return recording.spans.find((each) => each.spanContext().spanId === span?.parentSpanContext?.spanId)?.name;
      };

      expect(parentOf('in mergeMap')).to.equal('advisor tapping');
      expect(parentOf('in onEvent')).to.equal('advisor hearing');
    } finally {
      stop();
      context.disable();
    }
  });

  it('have no content that a sampler drops', async () => {
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

  it('say of which answer a tool was asked for, also in a second run', async () => {
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
    const { client, recording } = observed({ script: [calling, 'One.', calling, 'Two.'], tools: [now], advisors: [twice] });
    await client.prompt('Hi.').call().content();
    const tools = recording.spans.filter(({ name }) => name === 'execute_tool now');

    expect(tools.map(({ attributes }) => attributes['advisor_chain.iteration'])).to.deep.equal([0, 0]);
  });

  it('say that a tool was late only if that is what it failed with', async () => {
    const slow = defineTool({ name: 'slow', timeout: 5, execute: ({ signal }: never) => new Promise(() => signal) });
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
    const late = observed({ script, tools: [slow], advisors: [new ToolCallingAdvisor({ manager })] });
    await late.client.prompt('Hi.').call().content();
    const other = observed({ script, tools: [slow], advisors: [again] });
    await other.client
      .prompt('Hi.')
      .call()
      .content()
      .catch(() => undefined);

    expect(treeOf(late.recording.spans)).to.include('execute_tool slow (timeout, timeout, advisor_chain.timeout, exception)');
    expect(treeOf(other.recording.spans)).to.include('execute_tool slow (error, TypeError, advisor_chain.timeout, exception)');
  });

  it('have the conversation of the turn also where the model is called', async () => {
    const { client, recording } = observed({ script: ['Hi.'] });
    await client
      .prompt('Hi.')
      .advisors((a) => a.param(CONVERSATION_ID, 'anna-7'))
      .call()
      .content();

    expect(recording.spans.find(({ name }) => name === 'chat scripted')?.attributes).to.include({ 'gen_ai.conversation.id': 'anna-7' });
  });

  it('are there for a model that has no options', async () => {
    const recording = recordSpans();
    const scripted = new ScriptedChatModel(['Hi.']);
    const model = { call: (prompt, run) => scripted.call(prompt, run), stream: (prompt, run) => scripted.stream(prompt, run) } as ChatModel;
    const advisor = new ObservabilityAdvisor({ tracer: recording.tracer });

    expect(await ChatClient.create(model).prompt('Hi.').advisors(advisor).call().content()).to.equal('Hi.');
    expect(recording.problems).to.deep.equal([]);
  });
});
