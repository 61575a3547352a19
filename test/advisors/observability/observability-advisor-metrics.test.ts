import { trace, type Context } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  ChatClient,
  ChatResponse,
  defineTool,
  ObservabilityAdvisor,
  type Advisor,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { recordMetrics } from '../../support/recorded-telemetry.js';
import { recordSpans } from '../../support/recorded-spans.js';
import { answer, ask, SCENES, weather, type Scene } from '../../support/traced-turns.js';
import type { Mode } from '../../support/modes.js';

/** Runs a turn and returns its metrics by name. */
async function measure(
  mode: Mode,
  scene: Pick<Scene, 'script' | 'tools' | 'advisors'>,
): Promise<ReadonlyMap<string, MetricData>> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter });
  const provider = new MeterProvider({ readers: [reader] });
  const tools: readonly Tool[] = scene.tools ?? [];
  const advisors: readonly Advisor[] = scene.advisors?.() ?? [];
  const spec = ChatClient.create(new ScriptedChatModel(scene.script))
    .prompt('Hi.')
    .tools(...tools)
    .advisors(new ObservabilityAdvisor({ meter: provider.getMeter('test') }), ...advisors);
  await (
    mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse())
  ).catch(() => undefined);
  await reader.forceFlush();
  const metrics = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: data }) => data));
  await provider.shutdown();
  return new Map(metrics.map((data) => [data.descriptor.name, data]));
}

/** Labels and sum of each series; for durations the count instead of the sum. */
function seriesOf(data: MetricData | undefined): unknown[] {
  return (data?.dataPoints ?? []).map(({ attributes, value }) => {
    if (typeof value === 'number') return [attributes, value];
    const { count, sum } = value as Histogram;
    return [attributes, data?.descriptor.unit === 's' ? count : sum];
  });
}

const script: Script = [ask('get_weather', 'get_weather'), answer];
const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'scripted' };
const answered = { ...chat, 'gen_ai.response.model': 'scripted' };
const turn = { 'gen_ai.operation.name': 'invoke_agent', 'advisor_chain.outcome': 'success' };

describe('ObservabilityAdvisor', () => {
  it('measures a turn, its model calls, tokens and tools [OBS-22]', async () => {
    const metrics = await measure('call', { script, tools: [weather] });

    expect(
      Object.fromEntries([...metrics].map(([name, data]) => [name, seriesOf(data)])),
    ).to.deep.equal({
      'gen_ai.client.operation.duration': [[answered, 2]],
      'gen_ai.client.token.usage': [
        [{ ...answered, 'gen_ai.token.type': 'input' }, 20],
        [{ ...answered, 'gen_ai.token.type': 'output' }, 10],
      ],
      'advisor_chain.tool.duration': [
        [
          {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'get_weather',
            'advisor_chain.outcome': 'success',
          },
          2,
        ],
      ],
      'advisor_chain.turn.duration': [[turn, 1]],
      'advisor_chain.turn.iterations': [[turn, 2]],
    });
  });

  it('measures the chunks of a stream', async () => {
    const metrics = await measure('stream', { script: [{ text: 'one two three' }] });

    expect(seriesOf(metrics.get('gen_ai.client.operation.time_to_first_chunk'))).to.deep.equal([
      [chat, 1],
    ]);
    expect(seriesOf(metrics.get('gen_ai.client.operation.time_per_output_chunk'))).to.deep.equal([
      [chat, 2],
    ]);
  });

  it('has labels of the server for calls, and not for chunks', async () => {
    const metrics = recordMetrics();
    for (const address of ['a.example.org', 'b.example.org']) {
      const model = Object.assign(new ScriptedChatModel([{ text: 'one two three' }]), {
        provider: { name: 'p', address, port: 1 },
      });
      const client = ChatClient.builder(model)
        .defaultAdvisors(new ObservabilityAdvisor({ meter: metrics.meter }))
        .build();
      await lastValueFrom(client.prompt('hi').stream().content());
    }

    const collected = new Map(
      (await metrics.collect()).map((data) => [data.descriptor.name, seriesOf(data)]),
    );
    const called = { ...chat, 'gen_ai.provider.name': 'p' };
    expect(collected.get('gen_ai.client.operation.time_to_first_chunk')).to.deep.equal(
      ['a', 'b'].map((name) => [
        { ...called, 'server.address': `${name}.example.org`, 'server.port': 1 },
        1,
      ]),
    );
    expect(collected.get('gen_ai.client.operation.time_per_output_chunk')).to.deep.equal([
      [called, 4],
    ]);
  });

  it('measures each chunk of a long stream, even if the stream fails', async () => {
    const deltas = Array.from({ length: 1_000 }, () => 'word ');
    const whole = await measure('stream', { script: [{ deltas }] });
    const failed = await measure('stream', { script: [{ deltas, error: new Error('no more') }] });

    for (const metrics of [whole, failed])
      expect(seriesOf(metrics.get('gen_ai.client.operation.time_per_output_chunk'))).to.deep.equal([
        [chat, 999],
      ]);
  });

  it('[F100] records all measurements but those that the meter rejects', async () => {
    const PER_CHUNK = 'gen_ai.client.operation.time_per_output_chunk';
    const names: string[] = [];
    let count = 0;
    const createHistogram = (name: string): object => ({
      record: () => {
        if (name === PER_CHUNK && ++count % 2 === 0) throw new Error('rejected');
        names.push(name);
      },
    });
    const meter = { createHistogram, createCounter: () => ({ add: () => undefined }) };
    const model = new ScriptedChatModel([{ deltas: Array.from({ length: 9 }, () => 'x') }]);
    const spec = ChatClient.create(model)
      .prompt('Hi.')
      .advisors(new ObservabilityAdvisor({ meter }));
    await lastValueFrom(spec.stream().chatResponse());

    expect(names.filter((name) => name === PER_CHUNK)).to.have.length(4);
    expect(names).to.include.members([
      'gen_ai.client.operation.duration',
      'advisor_chain.turn.duration',
    ]);
  });

  it('records each measurement at once, in the context of the span that it belongs to', async () => {
    const { tracer, spans } = recordSpans();
    const measured: { readonly name: string; readonly spanId: string | undefined }[] = [];
    const createHistogram = (name: string): object => ({
      record: (_value: number, _labels: object, context: Context) =>
        measured.push({ name, spanId: trace.getSpanContext(context)?.spanId }),
    });
    const meter = { createHistogram, createCounter: () => ({ add: () => undefined }) };
    let duringTool: readonly string[] = [];
    const look = defineTool({
      name: 'look',
      execute: () => void (duringTool = measured.map(({ name }) => name)),
    });
    await ChatClient.create(new ScriptedChatModel([ask('look'), answer]))
      .prompt('Hi.')
      .tools(look)
      .advisors(new ObservabilityAdvisor({ meter, tracer }))
      .call()
      .content();

    const call = [
      'gen_ai.client.operation.duration',
      'gen_ai.client.token.usage',
      'gen_ai.client.token.usage',
    ];
    const spanNames = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
    expect(duringTool).to.deep.equal(call);
    expect(measured.map(({ name, spanId }) => [name, spanNames.get(spanId ?? '')])).to.deep.equal([
      ...call.map((name) => [name, 'chat scripted']),
      ['advisor_chain.tool.duration', 'execute_tool look'],
      ...call.map((name) => [name, 'chat scripted']),
      ['advisor_chain.turn.duration', 'invoke_agent'],
      ['advisor_chain.turn.iterations', 'invoke_agent'],
    ]);
  });

  it('has a label for the model that answered', async () => {
    const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
    const by = (model: string, id: string): ChatResponse =>
      new ChatResponse({
        model,
        usage,
        generations: [
          {
            message: {
              role: 'assistant',
              content: '',
              toolCalls: [{ id, name: 'get_weather', arguments: '{}' }],
            },
          },
        ],
      });
    const metrics = await measure('call', {
      script: [by('a', '1'), by('b', '2'), by('a', '3'), answer],
      tools: [weather],
    });

    expect(seriesOf(metrics.get('gen_ai.client.operation.duration'))).to.deep.equal([
      [{ ...chat, 'gen_ai.response.model': 'a' }, 2],
      [{ ...chat, 'gen_ai.response.model': 'b' }, 1],
      [answered, 1],
    ]);
    expect(seriesOf(metrics.get('gen_ai.client.token.usage')).slice(0, 2)).to.deep.equal([
      [{ ...chat, 'gen_ai.response.model': 'a', 'gen_ai.token.type': 'input' }, 6],
      [{ ...chat, 'gen_ai.response.model': 'a', 'gen_ai.token.type': 'output' }, 4],
    ]);
  });

  it('records no token usage without usage in the response [OBS-22]', async () => {
    const metrics = await measure('call', { script: ['Hi.'] });

    expect(metrics.has('gen_ai.client.token.usage')).to.equal(false);
  });

  it('measures failures by error type, and counts limits', async () => {
    const failed = await measure(
      'call',
      SCENES.find(({ name }) => name === 'a model that fails') as Scene,
    );
    const limited = await measure(
      'call',
      SCENES.find(({ name }) => name === 'a limit of calls') as Scene,
    );
    const unrun = await measure(
      'call',
      SCENES.find(({ name }) => name === 'calls that cannot run') as Scene,
    );
    const tool = { 'gen_ai.operation.name': 'execute_tool' };

    expect(seriesOf(failed.get('gen_ai.client.operation.duration'))).to.deep.equal([
      [answered, 1],
      [{ ...chat, 'error.type': '429' }, 1],
    ]);
    expect(seriesOf(failed.get('advisor_chain.turn.duration'))).to.deep.equal([
      [{ ...turn, 'advisor_chain.outcome': 'error', 'error.type': '429' }, 1],
    ]);
    expect(seriesOf(limited.get('advisor_chain.limit.breaches'))).to.deep.equal([
      [{ 'advisor_chain.limit': 'calls-per-tool' }, 1],
    ]);
    expect(seriesOf(unrun.get('advisor_chain.tool.duration'))).to.deep.equal([
      [{ ...tool, 'advisor_chain.outcome': 'unknown_tool', 'error.type': 'unknown_tool' }, 1],
      [
        {
          ...tool,
          'gen_ai.tool.name': 'get_weather',
          'advisor_chain.outcome': 'invalid_arguments',
          'error.type': 'invalid_arguments',
        },
        1,
      ],
    ]);
  });
});
