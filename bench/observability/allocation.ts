// Memory per chunk of a stream through a chain: a process of its own, without garbage collection during the measurement.
import { Session } from 'node:inspector/promises';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { AdvisorContext } from '../../src/core/chat/context.js';
import {
  ChatClient,
  ChatResponse,
  defineAdvisor,
  type ChatEvent,
  type ChatModel,
} from '../../src/index.js';
import { Observable } from '../../src/core/internal/rxjs.js';
import { ALLOCATION_CASES, type Allocation, type AllocationCase } from './allocation-cases.js';
import { setUp } from './variants.js';

const CHUNK: ChatEvent = { type: 'text-delta', text: 'x' };
const message = { role: 'assistant', content: 'x' } as const;
const RESPONSE: ChatEvent = {
  type: 'response',
  response: new ChatResponse({ generations: [{ message, finishReason: 'stop' }] }),
  context: AdvisorContext.empty,
};

/** Streams the same chunk repeatedly without a pause. */
class RepeatingModel implements ChatModel {
  readonly defaultOptions = { model: 'repeating' };
  chunks = 0;

  constructor(private readonly isNew: boolean) {}

  call(): Promise<ChatResponse> {
    return Promise.reject(new Error('this model streams only'));
  }

  stream(): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const { chunks, isNew } = this;
      for (let at = 0; at < chunks; at++)
        subscriber.next(isNew ? { type: 'text-delta', text: 'x' } : CHUNK);
      subscriber.next(RESPONSE);
      subscriber.complete();
    });
  }
}

const { advisors, kind, variant, isNew } = ALLOCATION_CASES.find(
  ({ name }) => name === process.argv[2],
) as AllocationCase;
const work = kind === 'around' ? defineAround : defineBefore;
const model = new RepeatingModel(isNew);
const client = ChatClient.builder(model)
  .defaultAdvisors(
    ...setUp(variant).advisors,
    ...Array.from({ length: advisors }, (_, at) => work(at)),
  )
  .build();

function defineBefore(at: number) {
  return defineAdvisor({ name: `before ${at}`, order: 1_000_000 + at, before: () => undefined });
}

function defineAround(at: number) {
  return defineAdvisor({
    name: `around ${at}`,
    order: 1_000_000 + at,
    around: (request, next) => next(request),
  });
}

/** The event that came last; here, so that none can be left out by an optimising compiler. */
let last: ChatEvent = RESPONSE;

function stream(chunks: number): Promise<void> {
  model.chunks = chunks;
  return new Promise((resolve, reject) => {
    let count = 0;
    const next = (event: ChatEvent): void => {
      count++;
      last = event;
    };
    const complete = (): void =>
      count === chunks + 1 && last.type === 'response'
        ? resolve()
        : reject(new Error(`${count} events`));
    client.prompt('Hello').stream().events().subscribe({ next, error: reject, complete });
  });
}

let collections = 0;
new PerformanceObserver((list) => (collections += list.getEntries().length)).observe({
  entryTypes: ['gc'],
});

/** Bytes that the heap grows by during a stream. */
async function growth(chunks: number): Promise<number> {
  globalThis.gc?.();
  await setTimeout(20); // collections are reported asynchronously
  const counted = collections;
  const before = getHeapStatistics().used_heap_size;
  await stream(chunks);
  const grown = getHeapStatistics().used_heap_size - before;
  await setTimeout(20);
  if (collections !== counted)
    throw new Error(
      'garbage was collected during the measurement: the young generation is too small',
    );
  return grown;
}

/** Samples each object, and forgets none; the second of these is not in the types of Node 20. */
const SAMPLING = {
  samplingInterval: 1,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
};

/** Objects that are made during a stream: the sampling profiler with an interval of one byte sees each. */
async function objects(chunks: number): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', SAMPLING);
  await stream(chunks);
  const { profile } = await session.post('HeapProfiler.stopSampling');
  return (profile as Partial<Record<'samples', readonly unknown[]>>).samples?.length ?? NaN;
}

async function measure([short, long]: AllocationCase['lengths']): Promise<Allocation> {
  // until the code is compiled as far as it will be
  for (let time = 0; time < 20; time++) await stream(10_000);
  const lowest = async (chunks: number): Promise<number> =>
    Math.min(await growth(chunks), await growth(chunks), await growth(chunks));
  const bytes = [await lowest(short), await lowest(long)] as const;
  // what a stream of any length makes is the same for both
  const few = await objects(2_000);
  return { bytes, objects: ((await objects(10_000)) - few) / 8_000 };
}

process.on(
  'message',
  (lengths: AllocationCase['lengths']) =>
    void measure(lengths).then((allocation) => process.send?.(allocation)),
);
process.send?.('ready');
