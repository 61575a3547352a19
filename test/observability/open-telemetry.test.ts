import { metrics, trace } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { ObservabilityAdvisor } from '../../src/index.js';
import { turns } from '../fixtures/observability/turn.js';
import { recordMetrics } from '../support/recorded-telemetry.js';
import { runFixture, type FixtureReport } from '../support/run-fixture.js';

describe('@opentelemetry/api', function () {
  this.timeout(60_000);
  this.slow(10_000);

  it('[F99] warns once of an older copy that has a registration', () => {
    const report = runFixture('observability/older-api', '1.4.0', 'trace', 'metrics');

    expect(report).to.include({ isRecorded: false });
    expect(report['answers']).to.deep.equal(['done', 'done', 'done', 'done']);
    expect(report['warnings']).to.have.length(1);
    expect(String(report['warnings']))
      .to.include('@opentelemetry/api 1.4.0')
      .and.include('npm ls @opentelemetry/api');
  });

  it('[F99] fails each turn with the name and range of the package if it is not installed', () => {
    const { unhandled, failures } = runFixture('observability/without-api', 'turns');

    expect(unhandled).to.deep.equal([]);
    expect(failures).to.have.length(2);
    for (const { message, isArgument, code } of failures as readonly FixtureReport[]) {
      expect(message).to.match(/InvalidArgumentError: .*@opentelemetry\/api@\^1\.9/);
      expect({ isArgument, code }).to.deep.equal({ isArgument: true, code: 'invalid_argument' });
    }
  });

  it('[F102] sends nothing without an SDK', () => {
    expect(runFixture('observability/no-network')).to.deep.equal({
      answers: ['done', 'done'],
      opened: [],
    });
  });

  it('[F99] records from the registration of an SDK until its removal', async () => {
    const exporter = new InMemorySpanExporter();
    const { reader, collect } = recordMetrics();
    const advisor = new ObservabilityAdvisor();
    await turns(advisor);
    try {
      trace.setGlobalTracerProvider(
        new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
      );
      metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
      await turns(advisor);
    } finally {
      trace.disable();
      metrics.disable();
    }
    await turns(advisor);
    const [duration] = (await collect()).filter(
      ({ descriptor }) => descriptor.name === 'advisor_chain.turn.duration',
    );

    expect(
      exporter.getFinishedSpans().filter(({ name }) => name === 'invoke_agent'),
    ).to.have.length(2);
    expect(
      duration?.dataPoints.map(({ value }) => (value as { readonly count: number }).count),
    ).to.deep.equal([2]);
  });

  it('[F99] records to the second SDK after a second registration', async () => {
    const advisor = new ObservabilityAdvisor();
    const exporters = [new InMemorySpanExporter(), new InMemorySpanExporter()];
    for (const exporter of exporters)
      try {
        trace.setGlobalTracerProvider(
          new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
        );
        await turns(advisor);
      } finally {
        trace.disable();
      }

    for (const exporter of exporters)
      expect(
        exporter.getFinishedSpans().filter(({ name }) => name === 'invoke_agent'),
      ).to.have.length(2);
  });
});
