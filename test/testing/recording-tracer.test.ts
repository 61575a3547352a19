import { context, ROOT_CONTEXT, trace, type Context, type Tracer } from '@opentelemetry/api';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import { z } from 'zod';
import { ChatClient, defineTool, ModelCallError, ObservabilityAdvisor } from '../../src/index.js';
import {
  describeRun,
  RecordingTracer,
  ScriptedChatModel,
  type Script,
} from '../../src/testing/index.js';
import type { TracerLike } from '../../advisors/observability/telemetry-options.js';
import { MODES, type Mode } from '../support/modes.js';
import { recordSpans, treeOf, useContextManager } from '../support/recorded-spans.js';
import { time } from '../support/made-up-spans.js';
import { namesIn, withoutTimes } from '../support/run-text.js';

const usage = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 15,
};
const asking = { toolCalls: [{ name: 'get_weather', arguments: { city: 'Rome' } }], usage };
const answer = { text: 'It is sunny.', usage };
const SCRIPT: Script = [asking, answer];

const weather = defineTool({
  name: 'get_weather',
  input: z.object({ city: z.string() }),
  execute: async ({ city }) => `Sunny in ${city}.`,
});

interface Setting {
  readonly script?: Script;
  readonly signal?: AbortSignal;
  readonly captureContent?: boolean;
}

const SETTINGS: Readonly<Record<string, () => Setting>> = {
  'a turn': () => ({}),
  'a turn that fails': () => ({ script: [asking, new ModelCallError('no', { status: 429 })] }),
  'a turn with content': () => ({
    script: [asking, new TypeError('not so')],
    captureContent: true,
  }),
  'a turn that is cancelled': cancelledSetting,
};

/** Cancelled while the model is at its second answer. */
function cancelledSetting(): Setting {
  const controller = new AbortController();
  const script: Script = (_prompt, index) => {
    if (index === 0) return asking;
    setImmediate(() => controller.abort());
    return { text: 'Too slow.', delay: 60_000 };
  };
  return { script, signal: controller.signal };
}

/** Runs a turn, whatever its outcome. */
async function runTurn(
  mode: Mode,
  tracer: TracerLike,
  { script = SCRIPT, signal, captureContent = false }: Setting = {},
): Promise<void> {
  const spec = ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(weather)
    .defaultAdvisors(new ObservabilityAdvisor({ tracer, captureContent }))
    .build()
    .prompt('How is the weather?');
  const run = signal ? spec.signal(signal) : spec;
  const done =
    mode === 'call' ? run.call().chatResponse() : lastValueFrom(run.stream().chatResponse());
  await done.catch(() => undefined);
}

describe('RecordingTracer', () => {
  for (const mode of MODES) {
    it(`records a turn, in a ${mode}`, async () => {
      const tracer = new RecordingTracer();

      await runTurn(mode, tracer);

      const chunk = mode === 'stream' ? ', first chunk … ms' : '';
      expect(withoutTimes(describeRun(tracer.spans))).to.equal(
        `
invoke_agent … ms  20 in  10 out  2 iterations, 1 tool call, stop
└─ advisor tool-calling … ms                 own … ms
   ├─ chat scripted … ms  10 in   5 out  tool_calls${chunk}
   ├─ execute_tool get_weather … ms                 success
   └─ chat scripted … ms  10 in   5 out  stop${chunk}`.trim(),
      );
    });

    for (const [what, setting] of Object.entries(SETTINGS))
      it(`records ${what} like the SDK, in a ${mode}`, async () => {
        const tracer = new RecordingTracer();
        const sdk = recordSpans();

        await Promise.all([runTurn(mode, tracer, setting()), runTurn(mode, sdk.tracer, setting())]);

        expect(withoutTimes(describeRun(tracer.spans))).to.equal(
          withoutTimes(describeRun(sdk.spans)),
        );
        expect(namesIn(describeRun(tracer.spans))).to.equal(treeOf(sdk.spans, () => ''));
      });

    it(`separates concurrent turns, in a ${mode}`, async () => {
      const tracer = new RecordingTracer();
      const alone = new RecordingTracer();

      await Promise.all([runTurn(mode, tracer), runTurn(mode, tracer), runTurn(mode, tracer)]);
      await runTurn(mode, alone);

      const turn = namesIn(describeRun(alone.spans));
      expect(namesIn(describeRun(tracer.spans))).to.equal([turn, turn, turn].join('\n\n'));
      expect(new Set(tracer.spans.map((span) => span.spanContext().traceId)).size).to.equal(3);
    });

    it(`records where a ${mode} failed, with the error`, async () => {
      const tracer = new RecordingTracer();

      await runTurn(mode, tracer, {
        script: [new TypeError('no weather today')],
        captureContent: true,
      });

      expect(withoutTimes(describeRun(tracer.spans)).split('\n')).to.include.members([
        'invoke_agent … ms  1 iteration, 0 tool calls, error TypeError',
        '      └─ * exception: type TypeError, message no weather today',
      ]);
    });
  }

  it('has open spans while a turn runs, and cancelled ones after it was cancelled', () => {
    const tracer = new RecordingTracer();
    const subscription = ChatClient.create(
      new ScriptedChatModel([{ text: 'one two', delay: 60_000 }]),
    )
      .prompt('Hi.')
      .advisors(new ObservabilityAdvisor({ tracer }))
      .stream()
      .content()
      .subscribe();

    const during = describeRun(tracer.spans);
    subscription.unsubscribe();

    expect(during).to.equal(
      [
        'invoke_agent             open',
        '└─ advisor tool-calling  open',
        '   └─ chat scripted      open',
      ].join('\n'),
    );
    expect(tracer.spans.map(({ ended }) => ended)).to.deep.equal([true, true, true]);
    expect(describeRun(tracer.spans).match(/cancelled/g)).to.have.length(3);
  });

  it('discards all spans when it is cleared, open ones included', () => {
    const tracer = new RecordingTracer();
    const open = tracer.startSpan('open');

    tracer.clear();
    open.end();
    tracer.startSpan('next').end();

    expect(tracer.spans.map(({ name }) => name)).to.deep.equal(['next']);
  });

  describe('as a Tracer of @opentelemetry/api', () => {
    // checked by the compiler
    const make = (): { readonly tracer: Tracer; readonly recording: RecordingTracer } => {
      const recording = new RecordingTracer();
      return { tracer: recording, recording };
    };

    it('records the data of a span', () => {
      const { tracer, recording } = make();
      const span = tracer.startSpan('first', { startTime: time(1), attributes: { a: 1 } });

      span.updateName('renamed').setAttribute('b', [2]).setAttributes({ c: true });
      span.setStatus({ code: 2, message: 'no' });
      span.addEvent('first', time(2)).addEvent('second', { d: 'x' }, time(3));
      span.addLink({ context: span.spanContext() }).addLinks([]);
      span.recordException(new TypeError('not so'), time(4));
      span.end(time(5));

      const [recorded] = recording.spans;
      const { spanContext, events, ...rest } = recorded ?? expect.fail();
      expect(rest).to.deep.equal({
        name: 'renamed',
        startTime: time(1),
        endTime: time(5),
        ended: true,
        attributes: { a: 1, b: [2], c: true },
        status: { code: 2, message: 'no' },
        parentSpanContext: undefined,
      });
      expect(events.slice(0, 2)).to.deep.equal([
        { name: 'first', time: time(2), attributes: {} },
        { name: 'second', time: time(3), attributes: { d: 'x' } },
      ]);
      expect(events[2]?.attributes).to.include({
        'exception.type': 'TypeError',
        'exception.message': 'not so',
      });
      expect(spanContext()).to.deep.equal(span.spanContext());
    });

    it('accepts a string as an exception', () => {
      const { tracer, recording } = make();

      tracer.startSpan('a').recordException('not so');

      expect(recording.spans[0]?.events[0]?.attributes).to.deep.equal({
        'exception.message': 'not so',
      });
    });

    it('ignores changes of a span that has ended', () => {
      const { tracer, recording } = make();
      const span = tracer.startSpan('first');
      span.end(time(1));

      span.updateName('second').setAttribute('a', 1).setStatus({ code: 2 }).addEvent('second');
      span.end(time(2));

      expect(span.isRecording()).to.equal(false);
      expect(recording.spans[0]).to.deep.include({
        name: 'first',
        endTime: time(1),
        attributes: {},
        status: { code: 0 },
        events: [],
      });
    });

    it('returns snapshots', () => {
      const { tracer, recording } = make();
      const span = tracer.startSpan('first');

      const before = recording.spans;
      span.setAttribute('a', 1).addEvent('event').end();

      expect(before[0]).to.deep.include({ ended: false, attributes: {}, events: [] });
    });

    // a number before this process began would be one of its own clock
    const now = Math.ceil(performance.timeOrigin);
    for (const [what, started, expected] of [
      ['a time in seconds and nanoseconds', time(12), 1_700_000_000_012],
      ['a date', new Date(12), 12],
      ['milliseconds since 1970', now, now],
    ] as const)
      it(`accepts ${what}`, () => {
        const { tracer, recording } = make();

        tracer.startSpan('a', {
          startTime: typeof started === 'object' && 'length' in started ? [...started] : started,
        });

        const [seconds, nanos] = recording.spans[0]?.startTime ?? expect.fail();
        expect(seconds * 1_000 + nanos / 1e6).to.equal(expected);
      });

    it('accepts milliseconds of performance.now(), and uses the same clock by default', () => {
      const { tracer, recording } = make();

      tracer.startSpan('a', { startTime: performance.now() }).end(performance.now());
      tracer.startSpan('b').end();

      const times = recording.spans
        .flatMap(({ startTime, endTime }) => [startTime, endTime])
        .map(([seconds, nanos]) => seconds + nanos / 1e9);
      expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    });

    it('generates ids in the W3C format', () => {
      const { tracer } = make();
      const { traceId, spanId, traceFlags } = tracer.startSpan('a').spanContext();

      expect(traceId).to.match(/^[0-9a-f]{32}$/);
      expect(spanId).to.match(/^[0-9a-f]{16}$/);
      expect(traceFlags).to.equal(1);
    });

    it('finds the parent in the context, also a span of another tracer', () => {
      const { tracer, recording } = make();
      const server = recordSpans().tracer.startSpan('GET /');
      const outer = tracer.startSpan('outer', {}, trace.setSpan(ROOT_CONTEXT, server));
      const within = trace.setSpan(ROOT_CONTEXT, outer);

      tracer.startSpan('inner', {}, within);
      tracer.startSpan('apart', { root: true }, within);

      const [first, second, third] = recording.spans;
      const { traceId, spanId } = server.spanContext();
      expect(first?.parentSpanContext).to.deep.equal({ traceId, spanId });
      expect(second?.parentSpanContext?.spanId).to.equal(first?.spanContext().spanId);
      expect(third?.parentSpanContext).to.equal(undefined);
      expect(recording.spans.map((span) => span.spanContext().traceId === traceId)).to.deep.equal([
        true,
        true,
        false,
      ]);
    });

    it('finds no parent in a context without a span or with a span that records nothing', () => {
      const { tracer, recording } = make();
      const nothing = trace.wrapSpanContext({
        traceId: '0'.repeat(32),
        spanId: '0'.repeat(16),
        traceFlags: 0,
      });

      tracer.startSpan('a', {}, ROOT_CONTEXT);
      tracer.startSpan('b', {}, trace.setSpan(ROOT_CONTEXT, nothing));

      expect(recording.spans.map(({ parentSpanContext }) => parentSpanContext)).to.deep.equal([
        undefined,
        undefined,
      ]);
      expect(recording.spans.map((span) => span.spanContext().traceId)).not.to.include(
        '0'.repeat(32),
      );
    });

    it('runs a function with a span and returns its result', () => {
      const { tracer } = make();

      expect(tracer.startActiveSpan('a', () => 1)).to.equal(1);
      expect(tracer.startActiveSpan('a', {}, (span) => span.isRecording())).to.equal(true);
      expect(tracer.startActiveSpan('a', {}, ROOT_CONTEXT, () => 'x')).to.equal('x');
    });

    describe('with a context manager', () => {
      let stop: () => void;
      beforeEach(() => (stop = useContextManager()));
      afterEach(() => stop());

      it('finds the parent in the active context', () => {
        const { tracer, recording } = make();

        tracer.startActiveSpan('outer', (outer) => {
          tracer.startSpan('inner').end();
          expect(trace.getActiveSpan()).to.equal(outer);
          outer.end();
        });

        expect(namesIn(describeRun(recording.spans))).to.equal('outer\n  inner');
      });

      it('makes a span active in a given context', () => {
        const { tracer } = make();
        const key = Symbol('key');
        const given: Context = ROOT_CONTEXT.setValue(key, 'value');

        expect(
          tracer.startActiveSpan('a', {}, given, () => context.active().getValue(key)),
        ).to.equal('value');
      });

      it('nests spans and turns of tools in their tool call', async () => {
        const tracer = new RecordingTracer();
        const observability = new ObservabilityAdvisor({ tracer });
        const inner = ChatClient.builder(new ScriptedChatModel(['Sunny.']))
          .defaultAdvisors(observability)
          .build();
        const look = defineTool({
          name: 'look',
          execute: () => tracer.startActiveSpan('SELECT weather', async (span) => span.end()),
        });
        const ask = defineTool({
          name: 'ask',
          execute: () => inner.prompt('How is it?').call().content(),
        });

        await ChatClient.builder(
          new ScriptedChatModel([
            { toolCalls: [{ name: 'look' }] },
            { toolCalls: [{ name: 'ask' }] },
            'Done.',
          ]),
        )
          .defaultTools(look, ask)
          .defaultAdvisors(observability)
          .build()
          .prompt('Go.')
          .call()
          .content();

        expect(namesIn(describeRun(tracer.spans))).to.equal(
          `
invoke_agent
  advisor tool-calling
    chat scripted
    execute_tool look
      SELECT weather
    chat scripted
    execute_tool ask
      invoke_agent
        advisor tool-calling
          chat scripted
    chat scripted`.trim(),
        );
      });
    });
  });
});
