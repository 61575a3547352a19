import { diag, metrics, trace, type DiagLogger, type Span, type Tracer } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  ObservabilityAdvisor,
  ToolCallingAdvisor,
  ToolCallingManager,
  type Advisor,
  type ObservabilityAdvisorOptions,
} from '../../../src/index.js';
import type { MeterLike } from '../../../advisors/observability/telemetry-options.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES } from '../../support/modes.js';
import { unhandledErrorsOf } from '../../support/unhandled-errors.js';
import { outcomeOf, TURNS } from '../../support/turn-outcomes.js';
import { recordMetrics } from '../../support/recorded-telemetry.js';
import { recordSpans, useContextManager } from '../../support/recorded-spans.js';

const failure = new Error('telemetry failed');
const fail = (): never => {
  throw failure;
};

/** Messages to OpenTelemetry's own logger while `run` runs. */
async function messagesToDiag<T>(
  run: () => Promise<T>,
  error: DiagLogger['error'] = () => undefined,
): Promise<{ readonly messages: unknown[]; readonly result: T }> {
  const messages: unknown[] = [];
  const keep: DiagLogger['error'] = (message, ...details) => {
    messages.push(message, ...details);
    error(message, ...details);
  };
  const quiet = (): void => undefined;
  diag.setLogger(
    { error: keep, warn: quiet, info: quiet, debug: quiet, verbose: quiet },
    { suppressOverrideMessage: true },
  );
  try {
    return { messages, result: await run() };
  } finally {
    diag.disable();
  }
}

/** A tracer of the SDK, with other methods in its spans. */
function tracerWith(methods: Readonly<Record<string, unknown>>): Tracer {
  const { tracer } = recordSpans();
  const startSpan = (...args: Parameters<Tracer['startSpan']>): Span =>
    Object.assign(tracer.startSpan(...args), methods);
  return { startSpan, startActiveSpan: tracer.startActiveSpan.bind(tracer) };
}

function startingWith(startSpan: () => unknown): Tracer {
  return { startSpan, startActiveSpan: fail } as Tracer;
}

function sdkWith(processor: Partial<SpanProcessor>, sampler?: Sampler): Tracer {
  const whole = {
    onStart: () => undefined,
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const provider = new BasicTracerProvider({
    spanProcessors: [{ ...whole, ...processor }],
    ...(sampler && { sampler }),
  });
  return provider.getTracer('test');
}

const instrument = { record: () => undefined, add: () => undefined };
const meterWith = (methods: Readonly<Record<string, unknown>>): MeterLike =>
  ({ createHistogram: () => instrument, createCounter: () => instrument, ...methods }) as MeterLike;
const hook = (options: unknown): ObservabilityAdvisorOptions => ({
  tracer: recordSpans().tracer,
  captureContent: true,
  ...(options as ObservabilityAdvisorOptions),
});
const nothing: unknown = undefined;
const strict = new ToolCallingManager({ onToolError: 'throw' });
const hostile = new Proxy(new Error('x'), {
  get: fail,
  has: fail,
  getPrototypeOf: fail,
  ownKeys: fail,
});

/** Failing telemetry whose errors are reported. */
const FAILURES: Readonly<Record<string, () => ObservabilityAdvisorOptions>> = {
  'startSpan throws': () => ({ tracer: startingWith(fail) }),
  'startSpan returns an empty object': () => ({ tracer: startingWith(() => ({})) }),
  'startSpan returns a promise': () => ({ tracer: startingWith(async () => undefined) }),
  'startSpan returns a string': () => ({ tracer: startingWith(() => 'span') }),
  'isRecording throws': () => ({ tracer: tracerWith({ isRecording: fail }) }),
  'setAttributes throws': () => ({ tracer: tracerWith({ setAttributes: fail }) }),
  'addEvent throws': () => ({ tracer: tracerWith({ addEvent: fail }) }),
  'setStatus throws': () => ({ tracer: tracerWith({ setStatus: fail }) }),
  'end throws': () => ({ tracer: tracerWith({ end: fail }) }),
  'every method of a span throws': () => ({
    tracer: tracerWith({
      setAttributes: fail,
      addEvent: fail,
      setStatus: fail,
      end: fail,
      isRecording: fail,
      spanContext: fail,
    }),
  }),
  'a processor throws at a start': () => ({ tracer: sdkWith({ onStart: fail }) }),
  'a processor throws at an end': () => ({ tracer: sdkWith({ onEnd: fail }) }),
  'a sampler throws': () => ({ tracer: sdkWith({}, { shouldSample: fail }) }),
  'createHistogram throws': () => ({ meter: meterWith({ createHistogram: fail }) }),
  'createCounter throws': () => ({ meter: meterWith({ createCounter: fail }) }),
  'createHistogram returns undefined': () => ({
    meter: meterWith({ createHistogram: () => undefined }),
  }),
  'record throws': () => ({ meter: meterWith({ createHistogram: () => ({ record: fail }) }) }),
  'redact throws': () => hook({ redact: fail }),
  'redact throws undefined': () =>
    hook({
      redact: () => {
        throw nothing;
      },
    }),
  'redact throws a proxy that throws': () =>
    hook({
      redact: () => {
        throw hostile;
      },
    }),
  'redact returns undefined': () => hook({ redact: () => undefined }),
  'redact returns a number': () => hook({ redact: () => 7 }),
  'redact returns a promise': () => hook({ redact: async () => 'x' }),
  'redact returns a promise that rejects': () => hook({ redact: async () => fail() }),
  'attributes throws': () => hook({ attributes: fail }),
  'attributes returns a number': () => hook({ attributes: () => 7 }),
  'attributes returns a string': () => hook({ attributes: () => 'tier' }),
  'attributes returns a promise': () => hook({ attributes: async () => ({ tier: 'gold' }) }),
  'attributes returns a promise that rejects': () => hook({ attributes: async () => fail() }),
  'attributes returns an object that throws': () =>
    hook({
      attributes: () =>
        Object.defineProperty({}, 'gen_ai.agent.name', { enumerable: true, get: fail }),
    }),
  'attributes returns a proxy that throws': () => hook({ attributes: () => hostile }),
  'spanName throws': () => hook({ spanName: fail }),
  'spanName returns a number': () => hook({ spanName: () => 7 }),
  'spanName returns a promise': () => hook({ spanName: async () => 'x' }),
  'spanName returns a promise that rejects': () => hook({ spanName: async () => fail() }),
};

/** Hooks without a usable value, which are not reported. */
const SILENT: Readonly<Record<string, () => ObservabilityAdvisorOptions>> = {
  'attributes returns undefined': () => hook({ attributes: () => undefined }),
  'attributes returns null': () => hook({ attributes: () => null }),
  'attributes returns values that spans do not accept': () =>
    hook({ attributes: () => ({ a: Symbol('a'), b: 1n, c: { d: 1 }, e: fail, f: null }) }),
  'spanName returns undefined': () => hook({ spanName: () => undefined }),
};

/** Expects the same turns with and without an advisor, and returns the messages to diag. */
async function expectUnchanged(advisor: () => Advisor): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const mode of MODES)
    for (const name of Object.keys(TURNS)) {
      const plain = await outcomeOf(name, mode, []);
      const { messages, result } = await messagesToDiag(() => outcomeOf(name, mode, [advisor()]));
      // an unhandled promise is reported after this iteration of the event loop
      await new Promise(setImmediate);

      expect(result, `${name}, ${mode}`).to.deep.equal(plain);
      all.push(...messages);
    }
  return all;
}

describe('failing telemetry', () => {
  for (const [how, options] of Object.entries(FAILURES))
    it(`[F100] is reported to diag and changes no turn: ${how}`, async () => {
      expect(await expectUnchanged(() => new ObservabilityAdvisor(options()))).to.not.be.empty;
    });

  for (const [how, options] of Object.entries(SILENT))
    it(`[F100] changes no turn: ${how}`, async () => {
      await expectUnchanged(() => new ObservabilityAdvisor(options()));
    });

  it('[F100] changes no turn if it is registered globally', async () => {
    try {
      trace.setGlobalTracerProvider({ getTracer: fail });
      metrics.setGlobalMeterProvider({ getMeter: fail });
      expect(await expectUnchanged(() => new ObservabilityAdvisor())).to.include(failure);
    } finally {
      trace.disable();
      metrics.disable();
    }
  });

  it('[F100] does not become the active span', async () => {
    const stop = useContextManager();
    const { tracer } = recordSpans();
    const work = defineTool({ name: 'work', execute: () => tracer.startSpan('query').end() });
    const client = ChatClient.builder(
      new ScriptedChatModel([{ toolCalls: [{ name: 'work' }] }, 'done']),
    )
      .defaultTools(work)
      .defaultAdvisors(
        new ObservabilityAdvisor({ tracer: startingWith(() => ({})) }),
        new ToolCallingAdvisor({ manager: strict }),
      )
      .build();

    expect(await client.prompt('Hi.').call().content().finally(stop)).to.equal('done');
  });

  it('[F100] keeps spans if metrics fail, and metrics if spans fail', async () => {
    const recording = recordSpans();
    const { meter, collect } = recordMetrics();
    await outcomeOf('whose model refuses', 'call', [
      new ObservabilityAdvisor({
        tracer: recording.tracer,
        meter: meterWith({ createHistogram: fail }),
      }),
    ]);
    await outcomeOf('whose model refuses', 'call', [
      new ObservabilityAdvisor({ tracer: startingWith(fail), meter }),
    ]);

    expect(recording.spans.map(({ name }) => name)).to.include.members([
      'invoke_agent',
      'chat scripted',
      'execute_tool look',
    ]);
    expect(recording.problems).to.deep.equal([]);
    expect((await collect()).map(({ descriptor }) => descriptor.name)).to.include.members([
      'gen_ai.client.operation.duration',
      'advisor_chain.turn.duration',
    ]);
  });

  it('[F100] loses only the text if redact fails', async () => {
    const recording = recordSpans();
    await outcomeOf('whose model refuses', 'call', [
      new ObservabilityAdvisor({ ...hook({ redact: fail }), tracer: recording.tracer }),
    ]);

    expect(recording.problems).to.deep.equal([]);
    expect(recording.spans.find(({ name }) => name === 'invoke_agent')?.attributes).to.include({
      'error.type': '429',
    });
  });

  it('[F100] changes no turn if diag fails too, which is reported as an unhandled error', async () => {
    const loud = new Error('diag failed');
    const options = {
      tracer: tracerWith({ end: fail }),
      meter: new MeterProvider().getMeter('test'),
    };
    const plain = await outcomeOf('whose model refuses', 'call', []);
    const reported = await unhandledErrorsOf(async () => {
      const observed = () =>
        outcomeOf('whose model refuses', 'call', [new ObservabilityAdvisor(options)]);
      const { result } = await messagesToDiag(observed, () => {
        throw loud;
      });
      expect(result).to.deep.equal(plain);
    });

    expect(reported).to.include(loud);
  });
});
