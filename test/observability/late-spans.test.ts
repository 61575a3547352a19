import { mock } from 'node:test';
import { context, trace, type Span, type Tracer } from '@opentelemetry/api';
import { expect } from 'chai';
import { firstValueFrom, Subject } from 'rxjs';
import { ChatClient, defineTool, ObservabilityAdvisor, type MeterLike, type TracerLike } from '../../src/index.js';
import { LateContext } from '../../src/observability/late-context.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { answer, ask } from '../advisors/observed-turns.js';
import { recordSpans, useContextManager, type Recording } from './spans.js';

/** A meter of one turn alone, so that nothing of other turns waits with it. */
function noMeter(): MeterLike {
  return { createHistogram: () => ({ record: () => undefined }), createCounter: () => ({ add: () => undefined }) };
}

/** A turn whose tool has not ended. */
async function waitingTurn(tracer: TracerLike, look: () => void = () => undefined): Promise<() => Promise<void>> {
  const gate = new Subject<string>();
  const begun = new Subject<void>();
  const execute = (): Promise<string> => {
    look();
    queueMicrotask(() => begun.next());
    return firstValueFrom(gate);
  };
  const reached = firstValueFrom(begun);
  const content = ChatClient.create(new ScriptedChatModel([ask('slow'), answer]))
    .prompt('Hi.')
    .tools(defineTool({ name: 'slow', execute }))
    .advisors(new ObservabilityAdvisor({ tracer, meter: noMeter() }))
    .call()
    .content();
  await reached;
  return async () => {
    gate.next('done');
    await content;
  };
}

/** Keeps the names of the spans that a tracer was asked for. */
function counting({ tracer }: Recording, before: () => void = () => undefined): { readonly tracer: Tracer; readonly begun: string[] } {
  const begun: string[] = [];
  const startSpan = (...args: Parameters<Tracer['startSpan']>): Span => {
    before();
    begun.push(args[0]);
    return tracer.startSpan(...args);
  };
  return { tracer: { startSpan, startActiveSpan: tracer.startActiveSpan.bind(tracer) }, begun };
}

const ALL = ['invoke_agent', 'advisor tool-calling', 'chat scripted', 'execute_tool slow', 'chat scripted'];

describe('spans on their way', () => {
  let stop: () => void;
  before(() => (stop = useContextManager()));
  after(() => stop());
  afterEach(() => mock.timers.reset());

  it('reach the tracer together, before the turn ends, with the times of their parts', async () => {
    const recording = recordSpans();
    const { tracer, begun } = counting(recording);
    const finish = await waitingTurn(tracer);
    expect(begun).to.deep.equal([]);

    await finish();
    expect(begun).to.deep.equal(ALL);
    expect(recording.spans.map(({ name }) => name)).to.deep.equal([
      'chat scripted',
      'execute_tool slow',
      'chat scripted',
      'advisor tool-calling',
      'invoke_agent',
    ]);
    expect(recording.problems).to.deep.equal([]);
  });

  it('reach the tracer when somebody looks for the active one, with those around it, and no others', async () => {
    const recording = recordSpans();
    const { tracer, begun } = counting(recording);
    let active: string | undefined;
    const finish = await waitingTurn(tracer, () => (active = trace.getActiveSpan()?.spanContext().spanId));
    expect(begun).to.deep.equal(['invoke_agent', 'advisor tool-calling', 'execute_tool slow']);

    await finish();
    expect([...begun].sort()).to.deep.equal([...ALL].sort());
    expect(recording.spans.find(({ name }) => name === 'execute_tool slow')?.spanContext().spanId).to.equal(active);
    expect(recording.problems).to.deep.equal([]);
  });

  it('reach the tracer after five seconds in a turn that goes on, also those that are open', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const recording = recordSpans();
    const { tracer, begun } = counting(recording);
    const finish = await waitingTurn(tracer);

    mock.timers.tick(4_999);
    expect(begun).to.deep.equal([]);
    mock.timers.tick(1);
    expect(begun).to.deep.equal(ALL.slice(0, 4));
    expect(recording.spans.map(({ name }) => name)).to.deep.equal(['chat scripted']);

    await finish();
    expect(begun).to.deep.equal(ALL);
    expect(recording.problems).to.deep.equal([]);
  });

  it('reach a tracer that wants each one as they begin and end', async () => {
    const recording = recordSpans();
    const { tracer, begun } = counting(recording);
    const finish = await waitingTurn({ ...tracer, isLive: true });
    expect(begun).to.deep.equal(ALL.slice(0, 4));
    expect(recording.spans.map(({ name }) => name)).to.deep.equal(['chat scripted']);

    await finish();
    expect(recording.problems).to.deep.equal([]);
  });

  it('are asked for once by a tracer that looks for the active span itself', async () => {
    const recording = recordSpans();
    const seen: (string | undefined)[] = [];
    const caller = recording.tracer.startSpan('GET /chat');
    const { tracer, begun } = counting(recording, () => seen.push(trace.getActiveSpan()?.spanContext().spanId));
    const look = (): void => void trace.getActiveSpan();
    const finish = await context.with(trace.setSpan(context.active(), caller), () => waitingTurn(tracer, look));
    expect(begun).to.deep.equal(['invoke_agent', 'advisor tool-calling', 'execute_tool slow']);

    await finish();
    caller.end();
    expect([...begun].sort()).to.deep.equal([...ALL].sort());
    // while one is made, the one around it is active
    const ids = ['GET /chat', 'invoke_agent', 'advisor tool-calling'].map((name) => recording.spans.find((span) => span.name === name));
    expect(seen.slice(0, 3)).to.deep.equal(ids.map((span) => span?.spanContext().spanId));
    expect(recording.spans).to.have.length(ALL.length + 1);
  });

  it('leave nothing behind in their surroundings: who keeps those does not keep what was said', () => {
    const made = context.active();
    const late = new LateContext(context.active(), () => made);
    expect(Object.values(late)).to.satisfy((values: readonly unknown[]) => values.some((value) => typeof value === 'function'));

    expect(late.resolve()).to.equal(made);
    expect(Object.values(late)).to.deep.equal([made, undefined]);
    const key = Symbol('key');
    expect(late.setValue(key, 1).getValue(key)).to.equal(1);
    expect(late.setValue(key, 1).deleteValue(key).getValue(key)).to.equal(undefined);
    expect(late.deleteValue(key).getValue(key)).to.equal(undefined);
  });
});
