import { context, trace } from '@opentelemetry/api';
import { expect } from 'chai';
import { concat, lastValueFrom, of, tap, type Observable } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  ObservabilityAdvisor,
  ToolCallingAdvisor,
  type Advisor,
  type ChatEvent,
  type StreamResult,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { expectTurnsApart } from '../../support/interleaved-turns.js';
import { answer, ask } from '../../support/traced-turns.js';
import { recordSpans, treeOf, useContextManager } from '../../support/recorded-spans.js';
import { MODES } from '../../support/modes.js';

describe('ObservabilityAdvisor', () => {
  describe('with a context manager', () => {
    let stop: () => void;
    before(() => (stop = useContextManager()));
    after(() => stop());

    for (const mode of MODES)
      it(`nests the turn in the caller's span and spans of a tool in the tool call, in a ${mode} [SPN-01]`, async () => {
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
          await (mode === 'call'
            ? spec.call().content()
            : lastValueFrom(spec.stream().chatResponse()));
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
      it(`makes the span of an advisor active while the advisor handles events, in a ${mode}`, async () => {
        const recording = recordSpans();
        const handle = (event: ChatEvent): void => {
          if (event.type === 'response') recording.tracer.startSpan('handle').end();
        };
        const watcher = (name: string, order: number): Advisor => ({
          name,
          order,
          advise: (request, chain) =>
            chain
              .next(request)
              .pipe(
                tap({ next: handle, complete: () => recording.tracer.startSpan('done').end() }),
              ),
        });
        const spec = ChatClient.create(new ScriptedChatModel([answer]))
          .prompt('Hi.')
          .advisors(
            new ObservabilityAdvisor({ tracer: recording.tracer }),
            watcher('turn', AdvisorOrder.TOOL_CALLING - 1),
            watcher('iteration', AdvisorOrder.TOOL_CALLING + 1),
          );
        await (mode === 'call'
          ? spec.call().content()
          : lastValueFrom(spec.stream().chatResponse()));

        const names = new Map(
          recording.spans.map((span) => [span.spanContext().spanId, span.name]),
        );
        const own = recording.spans.filter(({ name }) => name === 'handle' || name === 'done');
        expect(
          own.map(({ name, parentSpanContext }) => [
            name,
            names.get(parentSpanContext?.spanId ?? ''),
          ]),
        ).to.deep.equal([
          ['handle', 'advisor iteration'],
          ['done', 'advisor iteration'],
          ['handle', 'advisor turn'],
          ['done', 'advisor turn'],
        ]);
      });

    it('makes the span of an advisor around the tool loop active while it handles events of the loop', async () => {
      const recording = recordSpans();
      const { tracer } = recording;
      const handle = ({ type }: ChatEvent): void => {
        if (type === 'retract') tracer.startSpan('handle').end();
      };
      const loop: Advisor = {
        name: 'loop',
        order: AdvisorOrder.TOOL_CALLING,
        role: 'tool-loop',
        advise: (request, chain) =>
          new ToolCallingAdvisor().advise(request, chain).pipe(tap(handle)),
      };
      const inner: Advisor = {
        name: 'inner',
        order: AdvisorOrder.TOOL_CALLING + 1,
        advise: (request, chain) =>
          concat(of<ChatEvent>({ type: 'retract', iteration: 0 }), chain.next(request)),
      };
      const spec = ChatClient.create(new ScriptedChatModel([answer]))
        .prompt('Hi.')
        .advisors(new ObservabilityAdvisor({ tracer }), loop, inner);
      await lastValueFrom(spec.stream().chatResponse());

      const { spans } = recording;
      const parent = spans.find(({ name }) => name === 'handle')?.parentSpanContext?.spanId;
      expect(spans.find((span) => span.spanContext().spanId === parent)?.name).to.equal(
        'advisor loop',
      );
    });

    it('starts a trace of its own for a turn that the caller starts in an event handler', async () => {
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

      expect(recording.spans.filter(({ parentSpanContext }) => !parentSpanContext)).to.have.length(
        2,
      );
    });

    it('delivers events in the context of the caller', async () => {
      const caller = context.active().setValue(Symbol('name'), 'caller');
      const listen = async (to: (turn: StreamResult) => Observable<unknown>) => {
        const received: unknown[] = [];
        const receive = (event?: unknown): void => {
          expect(context.active()).to.equal(caller);
          if (event !== undefined) received.push(event);
        };
        const turn = ChatClient.create(
          new ScriptedChatModel([ask('work'), { text: 'one two three' }]),
        )
          .prompt('Hi.')
          .tools(defineTool({ name: 'work', execute: () => 'done' }))
          .advisors(new ObservabilityAdvisor({ tracer: recordSpans().tracer }))
          .stream();
        await context.with(caller, () =>
          lastValueFrom(to(turn).pipe(tap({ next: receive, complete: receive }))),
        );
        return received;
      };

      const texts = await listen((turn) => turn.content());
      const all = await listen((turn) => turn.events());

      expect(texts).to.deep.equal(['one ', 'two ', 'three']);
      expect(all).to.have.length.above(6);
    });

    it('[F97] keeps 100 interleaved turns apart', () => expectTurnsApart(100));
  });
});
