import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { metrics, trace } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { InvalidArgumentError, ObservabilityAdvisor } from '../../src/index.js';
import { turns } from '../fixtures/observability/turn.js';
import { recordMetrics } from './records.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a fixture in a process of its own, which must end by itself, and gives what it reports. */
function runFixture(name: string, ...args: readonly string[]): Readonly<Record<string, unknown>> {
  const run = spawnSync(process.execPath, ['--import', 'tsx', `test/fixtures/observability/${name}.ts`, ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(run.status, run.stdout + run.stderr).to.equal(0);
  return JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>;
}

describe('the API of OpenTelemetry', function () {
  this.timeout(60_000);
  this.slow(10_000);

  describe('of another copy', () => {
    const DONE = ['done', 'done', 'done', 'done'];
    const { version: ours } = JSON.parse(readFileSync(join(root, 'node_modules/@opentelemetry/api/package.json'), 'utf8')) as {
      readonly version: string;
    };
    const registrations = [['trace'], ['metrics'], ['trace', 'metrics']];
    for (const registered of registrations)
      it(`[F99] that is older is told of once, by name and version, where it registered ${registered.join(' and ')}`, () => {
        const { answers, warnings, isRecorded } = runFixture('older-api', '1.4.0', ...registered);

        expect(answers).to.deep.equal(DONE);
        expect(isRecorded).to.equal(false);
        expect(warnings).to.have.length(1);
        expect(String(warnings)).to.include('@opentelemetry/api').and.include('1.4.0').and.include('npm ls @opentelemetry/api');
      });

    for (const version of [ours.replace(/\d+$/, '0'), '1.999.0'])
      it(`[F99] that is ${version} is used without a word`, () => {
        expect(runFixture('older-api', version, 'trace', 'metrics')).to.deep.equal({ answers: DONE, warnings: [], isRecorded: true });
      });

    it('[F99] that registered nothing is not told of', () => {
      expect(runFixture('older-api', '1.4.0')).to.deep.equal({ answers: DONE, warnings: [], isRecorded: false });
    });
  });

  describe('that is not installed', () => {
    it('[F99] fails each turn with the package and the range that is needed, and leaves nothing unhandled', () => {
      const { unhandled, failures } = runFixture('without-api', 'turns');

      expect(unhandled).to.deep.equal([]);
      expect(failures).to.have.length(2);
      for (const { message, isArgument, code } of failures as readonly Readonly<Record<string, unknown>>[]) {
        expect(message).to.match(/InvalidArgumentError: .*@opentelemetry\/api@\^1\.9/);
        expect({ isArgument, code }).to.deep.equal({ isArgument: true, code: 'invalid_argument' });
      }
    });

    it('[F99] is no harm to a process that only makes an advisor', () => {
      expect(runFixture('without-api')).to.deep.equal({ unhandled: [], failures: [] });
    });
  });

  describe('without an SDK', () => {
    it('[F102] sends nothing to anybody', () => {
      expect(runFixture('no-network')).to.deep.equal({ answers: ['done', 'done'], opened: [] });
    });

    it('[F102] would be seen if it did', () => {
      expect(runFixture('no-network', 'check')).to.deep.equal({ answers: ['done', 'done'], opened: ['connect'] });
    });
  });

  it('[F99] is used from the registration of an SDK on, and no longer than that', async () => {
    const exporter = new InMemorySpanExporter();
    const { reader, collect } = recordMetrics();
    const advisor = new ObservabilityAdvisor();
    await turns(advisor);
    try {
      trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
      metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
      await turns(advisor);
    } finally {
      trace.disable();
      metrics.disable();
    }
    await turns(advisor);
    const [duration] = (await collect()).filter(({ descriptor }) => descriptor.name === 'advisor_chain.turn.duration');

    expect(exporter.getFinishedSpans().filter(({ name }) => name === 'invoke_agent')).to.have.length(2);
    expect(duration?.dataPoints.map(({ value }) => (value as { readonly count: number }).count)).to.deep.equal([2]);
  });

  it('[F99] is used from the second registration on where there is another', async () => {
    const advisor = new ObservabilityAdvisor();
    const exporters = [new InMemorySpanExporter(), new InMemorySpanExporter()];
    for (const exporter of exporters)
      try {
        trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
        await turns(advisor);
      } finally {
        trace.disable();
      }

    for (const exporter of exporters) expect(exporter.getFinishedSpans().filter(({ name }) => name === 'invoke_agent')).to.have.length(2);
  });
});

describe('options of an ObservabilityAdvisor', () => {
  for (const [options, message] of [
    [{ tracer: null }, 'tracer must be a Tracer'],
    [{ tracer: {} }, 'tracer must be a Tracer'],
    [{ tracer: 'tracer' }, 'tracer must be a Tracer'],
    [{ meter: null }, 'meter must be a Meter'],
    [{ meter: {} }, 'meter must be a Meter'],
    [{ meter: { createHistogram: () => ({}) } }, 'meter must be a Meter'],
    [{ captureContent: 'yes' }, 'captureContent must be true or false'],
    [{ captureContent: null }, 'captureContent must be true or false'],
    [{ redact: null }, 'redact must be a function'],
    [{ redact: /secret/ }, 'redact must be a function'],
    [{ maxContentLength: 0 }, 'maxContentLength must be an integer of 1 or more'],
    [{ maxContentLength: -1 }, 'maxContentLength must be an integer of 1 or more'],
    [{ maxContentLength: 1.5 }, 'maxContentLength must be an integer of 1 or more'],
    [{ maxContentLength: NaN }, 'maxContentLength must be an integer of 1 or more'],
    [{ maxContentLength: Infinity }, 'maxContentLength must be an integer of 1 or more'],
    [{ maxContentLength: '8192' }, 'maxContentLength must be an integer of 1 or more'],
    [{ maxContentLength: null }, 'maxContentLength must be an integer of 1 or more'],
    [{ attributes: null }, 'attributes must be an object or a function'],
    [{ attributes: 'tier' }, 'attributes must be an object or a function'],
    [{ attributes: ['tier'] }, 'attributes must be an object or a function'],
    [{ spanName: null }, 'spanName must be a non-blank text or a function'],
    [{ spanName: 7 }, 'spanName must be a non-blank text or a function'],
    [{ order: NaN }, 'order must be a finite number'],
    [{ order: Infinity }, 'order must be a finite number'],
    [{ order: '1' }, 'order must be a finite number'],
    [{ order: null }, 'order must be a finite number'],
  ] as const)
    it(`are refused: ${inspect(options)}`, () => {
      expect(() => new ObservabilityAdvisor(options as never)).to.throw(InvalidArgumentError, `ObservabilityAdvisor: ${message}`);
    });

  it('are refused without a text of their own in the message', () => {
    const secret = 'a-text-of-the-application'.repeat(10);

    expect(() => new ObservabilityAdvisor({ attributes: secret as never }))
      .to.throw(InvalidArgumentError)
      .with.property('message')
      .with.length.below(200);
  });

  it('are all taken as undefined, or left out', () => {
    const names = ['tracer', 'meter', 'captureContent', 'redact', 'maxContentLength', 'attributes', 'spanName', 'order'];
    const absent = Object.fromEntries(names.map((name) => [name, undefined]));

    expect(new ObservabilityAdvisor(absent).order).to.equal(new ObservabilityAdvisor().order);
  });
});
