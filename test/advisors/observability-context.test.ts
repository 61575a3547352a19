import { mock } from 'node:test';
import { context, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { concat, lastValueFrom, of, tap, type Observable } from 'rxjs';
import { z } from 'zod';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  ObservabilityAdvisor,
  textOf,
  ToolCallingAdvisor,
  type Advisor,
  type ChatEvent,
  type StreamResult,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { answer, ask } from './observed-turns.js';
import { recordSpans, treeOf, useContextManager } from '../observability/spans.js';
import { MODES } from './turn.js';

describe('ObservabilityAdvisor', () => {
  describe('with a context manager', () => {
    let stop: () => void;
    before(() => (stop = useContextManager()));
    after(() => stop());

    for (const mode of MODES)
      it(`nests the turn in the caller's span, and the spans of a tool in its own, in a ${mode} [SPN-01]`, async () => {
        const recording = recordSpans();
        const { tracer } = recording;
        const inner = async (): Promise<string> => {
          await new Promise(setImmediate);
          tracer.startSpan('SELECT').end();
          return 'found';
        };
        const find = defineTool({ name: 'find', execute: inner });
        const caller = tracer.startSpan('GET /chat');
        await context.with(trace.setSpan(context.active(), caller), async () => {
          const spec = ChatClient.create(new ScriptedChatModel([ask('find', 'find'), answer]))
            .prompt('Hi.')
            .tools(find)
            .advisors(new ObservabilityAdvisor({ tracer }));
          await (mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse()));
        });
        caller.end();

        expect(treeOf(recording.spans)).to.equal(
          `
GET /chat
  invoke_agent
    advisor tool-calling
      chat scripted
      execute_tool find
        SELECT
      execute_tool find
        SELECT
      chat scripted`.trim(),
        );
      });

    for (const mode of MODES)
      it(`is an advisor's own while it handles what comes back, in a ${mode}`, async () => {
        const recording = recordSpans();
        const handle = (event: ChatEvent): void => {
          if (event.type === 'response') recording.tracer.startSpan('handle').end();
        };
        const watcher = (name: string, order: number): Advisor => ({
          name,
          order,
          advise: (request, chain) =>
            chain.next(request).pipe(tap({ next: handle, complete: () => recording.tracer.startSpan('done').end() })),
        });
        const spec = ChatClient.create(new ScriptedChatModel([answer]))
          .prompt('Hi.')
          .advisors(
            new ObservabilityAdvisor({ tracer: recording.tracer }),
            watcher('turn', AdvisorOrder.TOOL_CALLING - 1),
            watcher('iteration', AdvisorOrder.TOOL_CALLING + 1),
          );
        await (mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse()));

        const names = new Map(recording.spans.map((span) => [span.spanContext().spanId, span.name]));
        const own = recording.spans.filter(({ name }) => name === 'handle' || name === 'done');
        expect(own.map(({ name, parentSpanContext }) => [name, names.get(parentSpanContext?.spanId ?? '')])).to.deep.equal([
          ['handle', 'advisor iteration'],
          ['done', 'advisor iteration'],
          ['handle', 'advisor turn'],
          ['done', 'advisor turn'],
        ]);
      });

    it('is that of an advisor around the tool loop while it handles what the loop passes on', async () => {
      const recording = recordSpans();
      const { tracer } = recording;
      const handle = ({ type }: ChatEvent): void => {
        if (type === 'retract') tracer.startSpan('handle').end();
      };
      const loop: Advisor = {
        name: 'loop',
        order: AdvisorOrder.TOOL_CALLING,
        role: 'tool-loop',
        advise: (request, chain) => new ToolCallingAdvisor().advise(request, chain).pipe(tap(handle)),
      };
      const inner: Advisor = {
        name: 'inner',
        order: AdvisorOrder.TOOL_CALLING + 1,
        advise: (request, chain) => concat(of<ChatEvent>({ type: 'retract', iteration: 0 }), chain.next(request)),
      };
      const spec = ChatClient.create(new ScriptedChatModel([answer]))
        .prompt('Hi.')
        .advisors(new ObservabilityAdvisor({ tracer }), loop, inner);
      await lastValueFrom(spec.stream().chatResponse());

      const { spans } = recording;
      const parent = spans.find(({ name }) => name === 'handle')?.parentSpanContext?.spanId;
      expect(spans.find((span) => span.spanContext().spanId === parent)?.name).to.equal('advisor loop');
    });

    it('is not where the caller hears of events: a turn that begins there is a trace of its own', async () => {
      const recording = recordSpans();
      const client = ChatClient.builder(new ScriptedChatModel([answer, answer]))
        .defaultAdvisors(new ObservabilityAdvisor({ tracer: recording.tracer }))
        .build();
      await new Promise<void>((resolve, reject) => {
        const next = (): void =>
          void client
            .prompt('And now?')
            .call()
            .content()
            .then(() => resolve(), reject);
        client.prompt('Hi.').stream().content().subscribe({ complete: next, error: reject });
      });

      expect(recording.spans.filter(({ parentSpanContext }) => !parentSpanContext)).to.have.length(2);
    });

    it('is that of the caller for all that the caller hears, and is not changed for other events', async () => {
      const caller = context.active().setValue(Symbol('who'), 'caller');
      const changes = mock.method(context, 'with');
      const listen = async (
        to: (turn: StreamResult) => Observable<unknown>,
      ): Promise<{ readonly heard: unknown[]; readonly changed: number }> => {
        const heard: unknown[] = [];
        const hear = (event?: unknown): void => {
          expect(context.active()).to.equal(caller);
          if (event !== undefined) heard.push(event);
        };
        const turn = ChatClient.create(new ScriptedChatModel([ask('work'), { text: 'one two three' }]))
          .prompt('Hi.')
          .tools(defineTool({ name: 'work', execute: () => 'done' }))
          .advisors(new ObservabilityAdvisor({ tracer: recordSpans().tracer }))
          .stream();
        const before = changes.mock.callCount();
        await context.with(caller, () => lastValueFrom(to(turn).pipe(tap({ next: hear, complete: hear }))));
        return { heard, changed: changes.mock.callCount() - before };
      };

      const texts = await listen((turn) => turn.content());
      const all = await listen((turn) => turn.events());
      changes.mock.restore();

      expect(texts.heard).to.deep.equal(['one ', 'two ', 'three']);
      expect(all.heard).to.have.length.above(6);
      expect(all.changed - texts.changed).to.equal(all.heard.length - texts.heard.length);
    });

    it('[F97] keeps 1,000 interleaved turns apart', async function () {
      this.timeout(120_000);
      const recording = recordSpans();
      const { tracer } = recording;
      const work = defineTool({
        name: 'work',
        input: z.object({ who: z.string() }),
        execute: async ({ who }) => {
          await new Promise(setImmediate);
          tracer.startSpan('query', { attributes: { who } }).end();
          return who;
        },
      });
      const model = new ScriptedChatModel((prompt) => {
        const who = textOf(prompt.userMessage?.content ?? '');
        const calls = prompt.messages.filter(({ role }) => role === 'tool').length;
        return calls < 4 ? { delay: calls % 3, toolCalls: [1, 2].map(() => ({ name: 'work', arguments: { who } })) } : who;
      });
      const client = ChatClient.builder(model)
        .defaultTools(work)
        .defaultAdvisors(
          new ObservabilityAdvisor({
            tracer,
            attributes: ({ prompt }) => ({ who: textOf(prompt.userMessage?.content ?? '') }),
            captureContent: true,
          }),
        )
        .build();
      await Promise.all(
        Array.from({ length: 1_000 }, async (_, at) => {
          const spec = client.prompt(`user-${at}-`);
          await (at % 2 ? spec.call().content() : lastValueFrom(spec.stream().chatResponse()));
        }),
      );
      const traces = new Map<string, ReadableSpan[]>();
      for (const span of recording.spans) {
        const { traceId } = span.spanContext();
        traces.set(traceId, [...(traces.get(traceId) ?? []), span]);
      }
      const foreign = [...traces.values()].flatMap((spans) => {
        const own = spans.find(({ parentSpanContext }) => !parentSpanContext)?.attributes['who'] as string;
        return spans.filter(({ attributes }) => (JSON.stringify(attributes).match(/user-\d+-/g) ?? [own]).some((who) => who !== own));
      });

      expect(traces.size).to.equal(1_000);
      expect(new Set([...traces.values()].map((spans) => spans.length))).to.deep.equal(new Set([1 + 1 + 3 + 4 + 4]));
      expect(foreign).to.deep.equal([]);
      expect(recording.problems).to.deep.equal([]);
    });
  });
});
