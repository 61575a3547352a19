import { metrics, trace } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { ObservabilityAdvisor } from '../../../src/index.js';
import { turns } from '../../fixtures/observability/turn.js';
import { recordMetrics } from '../../support/recorded-telemetry.js';

describe('@opentelemetry/api', () => {
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
