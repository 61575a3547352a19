import { metrics, trace } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import { z } from 'zod';
import {
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  ObservabilityAdvisor,
  type ObservabilityAdvisorOptions,
} from '../../../src/index.js';
import { SCOPE } from '../../../src/core/internal/package.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, type Mode } from '../../support/modes.js';
import {
  Collector,
  type OtlpAttribute,
  type OtlpMetric,
  type OtlpSpan,
  type OtlpValue,
} from '../../support/otlp-collector.js';
import { outcomeOf, TURNS } from '../../support/turn-outcomes.js';

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4 };
const weather = defineTool({
  name: 'get_weather',
  input: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    await new Promise(setImmediate);
    return `Sunny in ${city}.`;
  },
});
const broken = defineTool({
  name: 'broken',
  execute: () => {
    throw new TypeError('no');
  },
});

/** A turn of two iterations and two calls. */
async function turn(mode: Mode, options: ObservabilityAdvisorOptions = {}): Promise<void> {
  const toolCalls = [{ name: 'get_weather', arguments: { city: 'Rome' } }, { name: 'broken' }];
  const client = ChatClient.builder(
    new ScriptedChatModel([
      { toolCalls, usage },
      { text: 'It is sunny.', usage },
    ]),
  )
    .defaultTools(weather, broken)
    .defaultAdvisors(
      new ObservabilityAdvisor({
        attributes: { tier: 'gold', tags: ['a', 'b'], share: 0.5 },
        ...options,
      }),
    )
    .build();
  const spec = client
    .prompt('How is it?')
    .options({ temperature: 0.5, maxTokens: 100 })
    .advisors((a) => a.param(CONVERSATION_ID, 'anna-7'));
  await (mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse()));
}

/** An SDK that exports to a collector, registered until it is closed. */
function register(url: string): { readonly close: () => Promise<void> } {
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces`, timeoutMillis: 500 });
  const traces = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${url}/v1/metrics`, timeoutMillis: 500 }),
    exportIntervalMillis: 60_000,
  });
  const meters = new MeterProvider({ readers: [reader] });
  expect(trace.setGlobalTracerProvider(traces)).to.equal(true);
  expect(metrics.setGlobalMeterProvider(meters)).to.equal(true);
  const close = async (): Promise<void> => {
    trace.disable();
    metrics.disable();
    // an exporter that cannot send may fail here, without effect on the turn
    await Promise.allSettled([traces.forceFlush(), meters.forceFlush()]);
    await Promise.allSettled([traces.shutdown(), meters.shutdown()]);
  };
  return { close };
}

function attributesOf({
  attributes,
}: {
  readonly attributes: readonly OtlpAttribute[];
}): Readonly<Record<string, OtlpValue>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value]));
}

function treeOf(spans: readonly OtlpSpan[], parent?: string, indent = ''): string[] {
  return spans
    .filter(({ parentSpanId }) => (parentSpanId || undefined) === parent)
    .toSorted((a, b) => (BigInt(a.startTimeUnixNano) < BigInt(b.startTimeUnixNano) ? -1 : 1))
    .flatMap((span) => [
      `${indent}${span.name} ${span.kind}`,
      ...treeOf(spans, span.spanId, `${indent}  `),
    ]);
}

describe('export by OTLP', () => {
  for (const mode of MODES)
    for (const compression of ['none', 'gzip'])
      describe(`of a ${mode} with compression ${compression}`, () => {
        let collector: Collector;
        const one = (name: string): OtlpSpan => {
          const found = collector.spans.filter((span) => span.name === name);
          expect(found, name).to.have.length(1);
          return found[0] as OtlpSpan;
        };

        before(async () => {
          collector = await Collector.start();
          process.env['OTEL_EXPORTER_OTLP_COMPRESSION'] = compression;
          const sdk = register(collector.url);
          delete process.env['OTEL_EXPORTER_OTLP_COMPRESSION'];
          await turn(mode);
          await sdk.close();
        });
        after(() => collector.close());

        it('sends spans and metrics, from the scope of the package and the resource of the SDK', () => {
          expect(new Set(collector.requests.map(({ path }) => path))).to.deep.equal(
            new Set(['/v1/traces', '/v1/metrics']),
          );
          expect(
            new Set(collector.requests.map(({ encoding }) => encoding ?? 'none')),
          ).to.deep.equal(new Set([compression]));
          expect(collector.spans).to.have.length(6);
          for (const { scope, resource } of collector.exported) {
            expect(scope).to.deep.include({ name: 'advisor-chain', version: SCOPE.version });
            expect(attributesOf({ attributes: resource })).to.deep.include({
              'telemetry.sdk.name': { stringValue: 'opentelemetry' },
            });
          }
        });

        it('sends one trace as a tree', () => {
          expect(treeOf(collector.spans).join('\n')).to.equal(
            `
invoke_agent 1
  advisor tool-calling 1
    chat scripted 3
    execute_tool get_weather 1
    execute_tool broken 1
    chat scripted 3`.trim(),
          );
          expect(new Set(collector.spans.map(({ traceId }) => traceId))).to.have.length(1);
          for (const { traceId, spanId } of collector.spans) {
            expect(traceId).to.match(/^[0-9a-f]{32}$/);
            expect(spanId).to.match(/^[0-9a-f]{16}$/);
          }
        });

        it('sends times of children within their parents, and of events within their spans', () => {
          const byId = new Map(collector.spans.map((span) => [span.spanId, span]));
          for (const {
            name,
            parentSpanId,
            startTimeUnixNano: start,
            endTimeUnixNano: end,
            events,
          } of collector.spans) {
            const parent = byId.get(parentSpanId ?? '');
            expect(BigInt(start) <= BigInt(end), name).to.equal(true);
            if (parent)
              expect(BigInt(parent.startTimeUnixNano) <= BigInt(start), name).to.equal(true);
            if (parent) expect(BigInt(end) <= BigInt(parent.endTimeUnixNano), name).to.equal(true);
            for (const { timeUnixNano } of events)
              expect(
                BigInt(start) <= BigInt(timeUnixNano) && BigInt(timeUnixNano) <= BigInt(end),
                name,
              ).to.equal(true);
          }
        });

        it('sends counts as integers, strings as strings, lists as lists', () => {
          const agent = attributesOf(one('invoke_agent'));
          const advisor = attributesOf(one('advisor tool-calling'));
          const chats = collector.spans
            .filter(({ name }) => name === 'chat scripted')
            .map(attributesOf);

          expect(agent).to.deep.include({
            'gen_ai.operation.name': { stringValue: 'invoke_agent' },
            'gen_ai.conversation.id': { stringValue: 'anna-7' },
            'gen_ai.usage.input_tokens': { intValue: 20 },
            'gen_ai.usage.output_tokens': { intValue: 10 },
            'gen_ai.usage.cache_read.input_tokens': { intValue: 8 },
            'gen_ai.response.finish_reasons': { arrayValue: { values: [{ stringValue: 'stop' }] } },
            'advisor_chain.turn.iterations': { intValue: 2 },
            'advisor_chain.turn.tool_calls': { intValue: 2 },
            tier: { stringValue: 'gold' },
            tags: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } },
            share: { doubleValue: 0.5 },
          });
          expect(agent['gen_ai.request.stream']).to.deep.equal(
            mode === 'stream' ? { boolValue: true } : undefined,
          );
          expect(advisor['advisor_chain.advisor.order']).to.have.property('intValue');
          expect(chats.map((chat) => chat['advisor_chain.iteration'])).to.have.deep.members([
            { intValue: 0 },
            { intValue: 1 },
          ]);
          for (const chat of chats)
            expect(chat).to.deep.include({
              'gen_ai.request.temperature': { doubleValue: 0.5 },
              'gen_ai.request.max_tokens': { intValue: 100 },
              'gen_ai.usage.input_tokens': { intValue: 10 },
            });
        });

        it('[F96] sends a failure as a status without text and an event with the class', () => {
          const { status, events } = one('execute_tool broken');

          expect(status).to.deep.equal({ code: 2 });
          expect(
            events.map(({ name, attributes }) => [name, attributesOf({ attributes })]),
          ).to.deep.equal([['exception', { 'exception.type': { stringValue: 'TypeError' } }]]);
          expect(one('execute_tool get_weather').status).to.deep.equal({ code: 0 });
        });

        it('sends metrics with the units and boundaries of the conventions', () => {
          const tenths = [
            0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
          ];
          const powers = Array.from({ length: 14 }, (_, at) => 4 ** at);
          const shape = ({ name, unit, histogram }: OtlpMetric): unknown => [
            name,
            unit,
            histogram?.dataPoints[0]?.explicitBounds,
          ];
          const streamed = [['gen_ai.client.operation.time_to_first_chunk', 's', tenths]];

          expect(collector.metrics.map(shape)).to.deep.include.members([
            ['gen_ai.client.operation.duration', 's', tenths],
            ['gen_ai.client.token.usage', '{token}', powers],
            ['advisor_chain.tool.duration', 's', tenths],
            ['advisor_chain.turn.duration', 's', tenths],
            [
              'advisor_chain.turn.iterations',
              '{iteration}',
              [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 50, 100],
            ],
            ...(mode === 'stream' ? streamed : []),
          ]);
          for (const { name, description, histogram } of collector.metrics) {
            expect(description, name).to.match(/^[A-Z].*\.$/);
            for (const { count, bucketCounts = [] } of histogram?.dataPoints ?? [])
              expect(
                bucketCounts.reduce((sum, bucket) => sum + bucket, 0),
                name,
              ).to.equal(count);
          }
        });

        it('sends token counts by type', () => {
          const points =
            collector.metrics.find(({ name }) => name === 'gen_ai.client.token.usage')?.histogram
              ?.dataPoints ?? [];

          expect(
            points.map((point) => [
              attributesOf(point)['gen_ai.token.type'],
              point.count,
              point.sum,
            ]),
          ).to.deep.equal([
            [{ stringValue: 'input' }, 2, 20],
            [{ stringValue: 'output' }, 2, 10],
          ]);
        });
      });

  const failing = {
    'answers 500': async () => Collector.start((response) => response.writeHead(500).end('no')),
    'hangs up': async () => Collector.start((response) => response.socket?.destroy()),
    'is not there': async () => {
      const collector = await Collector.start();
      const { url } = collector;
      await collector.close();
      return { url, requests: [], close: async () => undefined };
    },
  };
  for (const [how, start] of Object.entries(failing))
    it(`[F100] changes no turn when the collector ${how}`, async () => {
      const collector = await start();
      for (const mode of MODES)
        for (const name of Object.keys(TURNS)) {
          const plain = await outcomeOf(name, mode, []);
          const sdk = register(collector.url);
          const observed = await outcomeOf(name, mode, [new ObservabilityAdvisor()]);
          await sdk.close();

          expect(observed, `${name}, ${mode}`).to.deep.equal(plain);
        }
      if (!how.includes('not there')) expect(collector.requests).to.not.be.empty;
      await collector.close();
    });
});
