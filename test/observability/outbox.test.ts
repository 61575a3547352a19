import { mock } from 'node:test';
import { trace, type Context } from '@opentelemetry/api';
import { expect } from 'chai';
import { firstValueFrom, lastValueFrom, Subject, type Subscription } from 'rxjs';
import { ChatClient, defineTool, ObservabilityAdvisor, type ChatEvent, type MeterLike, type TracerLike } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { ask, answer } from '../advisors/observed-turns.js';
import { recordSpans } from './spans.js';

interface Measured {
  readonly name: string;
  readonly spanId: string | undefined;
}

/** A meter that keeps what reaches it. */
function keepingMeter(refuse: (name: string, count: number) => boolean = () => false): {
  readonly meter: MeterLike;
  readonly kept: Measured[];
} {
  const kept: Measured[] = [];
  let count = 0;
  const createHistogram = (name: string): object => ({
    record: (_value: number, _labels: object, context: Context) => {
      if (refuse(name, ++count)) throw new Error('refused');
      kept.push({ name, spanId: trace.getSpanContext(context)?.spanId });
    },
  });
  return { meter: { createHistogram, createCounter: () => ({ add: () => undefined }) }, kept };
}

const namesOf = (kept: readonly Measured[]): readonly string[] => kept.map(({ name }) => name);
const CHUNK = 'gen_ai.client.operation.time_per_output_chunk';

/** A turn whose tool has not ended; what the model call before it measured is there. */
async function waitingTurn(
  meter: MeterLike,
  tracer?: TracerLike,
): Promise<{ readonly finish: () => void; readonly content: Promise<string | null> }> {
  const gate = new Subject<string>();
  const begun = new Subject<void>();
  const slow = defineTool({ name: 'slow', execute: () => (queueMicrotask(() => begun.next()), firstValueFrom(gate)) });
  const reached = firstValueFrom(begun);
  const content = ChatClient.create(new ScriptedChatModel([ask('slow'), answer]))
    .prompt('Hi.')
    .tools(slow)
    .advisors(new ObservabilityAdvisor({ meter, tracer }))
    .call()
    .content();
  await reached;
  return { finish: () => gate.next('done'), content };
}

/** A stream whose pieces come from the test. */
async function openStream(meter: MeterLike): Promise<{ readonly pieces: Subject<ChatEvent>; readonly running: Subscription }> {
  const pieces = new Subject<ChatEvent>();
  const asked = new Subject<void>();
  const model = Object.assign(new ScriptedChatModel([answer]), { stream: () => (queueMicrotask(() => asked.next()), pieces) });
  const hasAsked = firstValueFrom(asked);
  const spec = ChatClient.create(model).prompt('Hi.').advisors(new ObservabilityAdvisor({ meter }));
  const running = spec.stream().events().subscribe();
  await hasAsked;
  return { pieces, running };
}

describe('measurements on their way', () => {
  afterEach(() => mock.timers.reset());

  it('reach the meter together, before the turn ends', async () => {
    const { meter, kept } = keepingMeter();
    const { finish, content } = await waitingTurn(meter);
    expect(kept).to.deep.equal([]);

    finish();
    await content;
    expect(namesOf(kept)).to.deep.equal([
      'gen_ai.client.operation.duration',
      'gen_ai.client.token.usage',
      'gen_ai.client.token.usage',
      'advisor_chain.tool.duration',
      'gen_ai.client.operation.duration',
      'gen_ai.client.token.usage',
      'gen_ai.client.token.usage',
      'advisor_chain.turn.duration',
      'advisor_chain.turn.iterations',
    ]);
  });

  it('reach the meter after five seconds in a turn that goes on', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { meter, kept } = keepingMeter();
    const { finish, content } = await waitingTurn(meter);

    mock.timers.tick(4_999);
    expect(kept).to.deep.equal([]);
    mock.timers.tick(1);
    expect(kept).to.have.length(3);

    finish();
    await content;
    expect(kept).to.have.length(9);
    // those that come later wait as long
    const next = await waitingTurn(meter);
    mock.timers.tick(5_000);
    expect(kept).to.have.length(12);
    next.finish();
    await next.content;
  });

  it('reach the meter when there are many', async () => {
    const { meter, kept } = keepingMeter();
    const { pieces, running } = await openStream(meter);

    // three spans wait as well: of the turn, the tool loop and the model call
    for (let at = 0; at < 252; at++) pieces.next({ type: 'text-delta', text: 'x' });
    expect(kept).to.deep.equal([]);
    pieces.next({ type: 'text-delta', text: 'x' });
    expect(namesOf(kept)).to.deep.equal(['gen_ai.client.operation.time_to_first_chunk', ...Array.from({ length: 252 }, () => CHUNK)]);
    running.unsubscribe();
    expect(namesOf(kept).slice(253)).to.deep.equal(['advisor_chain.turn.duration', 'advisor_chain.turn.iterations']);
  });

  it('hold up no process', async () => {
    const timers = mock.method(globalThis, 'setTimeout');
    const { pieces, running } = await openStream(keepingMeter().meter);
    pieces.next({ type: 'text-delta', text: 'x' });
    running.unsubscribe();
    timers.mock.restore();

    const waiting = timers.mock.calls.filter(({ arguments: [, time] }) => time === 5_000);
    expect(waiting.map(({ result }) => result?.hasRef())).to.deep.equal([false]);
  });

  it('[F100] are all there but those that a meter refuses', async () => {
    const { meter, kept } = keepingMeter((name, count) => name === CHUNK && count % 2 === 0);
    const model = new ScriptedChatModel([{ deltas: Array.from({ length: 9 }, () => 'x') }]);
    await lastValueFrom(ChatClient.create(model).prompt('Hi.').advisors(new ObservabilityAdvisor({ meter })).stream().chatResponse());

    expect(namesOf(kept).filter((name) => name === CHUNK)).to.have.length(4);
    expect(namesOf(kept)).to.include.members(['gen_ai.client.operation.duration', 'advisor_chain.turn.duration']);
  });

  it('end spans from the inside out, however many wait by then', async () => {
    for (let chunks = 235; chunks <= 260; chunks++) {
      const { tracer, spans } = recordSpans();
      const model = new ScriptedChatModel([{ deltas: Array.from({ length: chunks }, () => 'x') }]);
      const observability = new ObservabilityAdvisor({ tracer, meter: keepingMeter().meter });
      await lastValueFrom(ChatClient.create(model).prompt('Hi.').advisors(observability).stream().chatResponse());

      expect(
        spans.map(({ name }) => name),
        `${chunks} chunks`,
      ).to.deep.equal(['chat scripted', 'advisor tool-calling', 'invoke_agent']);
    }
  });

  it('come with the span that they are of', async () => {
    const { meter, kept } = keepingMeter();
    const recording = recordSpans();
    const { finish, content } = await waitingTurn(meter, recording.tracer);
    finish();
    await content;

    const names = new Map(recording.spans.map((span) => [span.spanContext().spanId, span.name]));
    const call = ['chat scripted', 'chat scripted', 'chat scripted'];
    expect(kept.map(({ spanId }) => names.get(spanId ?? ''))).to.deep.equal([
      ...call,
      'execute_tool slow',
      ...call,
      'invoke_agent',
      'invoke_agent',
    ]);
  });
});
