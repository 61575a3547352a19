import { expect } from 'chai';
import {
  ContextKey,
  defineAdvisor,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  type KeyValueStore,
  type ResponseCacheAdvisorOptions,
} from '../../../src/index.js';
import { COUNTING, cachedClient, turnOf } from '../../support/response-cache.js';
import { deferred } from '../../support/promises.js';
import { Random } from '../../support/random.js';

const TAGS = new ContextKey<readonly string[]>('test.tags', []);
const TAGGED: Partial<ResponseCacheAdvisorOptions> = { tags: ({ context }) => context.get(TAGS) };

/** Two processes with one store. */
function processes(store: KeyValueStore = new InMemoryKeyValueStore()) {
  const [one, other] = [1, 2].map(() => cachedClient({ ...TAGGED, store }));
  if (!one || !other) throw new Error('unreachable');
  return { one, other, store };
}

const ask = ({ client }: ReturnType<typeof cachedClient>, question: string, ...tags: string[]) =>
  turnOf(client.prompt(question).advisors((a) => a.param(TAGS, tags)));

describe('ResponseCacheAdvisor.invalidate', () => {
  it('removes the answers of a tag, and no others', async () => {
    const cached = cachedClient(TAGGED);
    await ask(cached, 'price?', 'prices', 'shop');
    await ask(cached, 'address?', 'shop');

    await cached.cache.invalidate('prices');
    const price = await ask(cached, 'price?', 'prices', 'shop');
    const address = await ask(cached, 'address?', 'shop');

    expect([price.outcomes, address.outcomes]).to.deep.equal([['miss', 'stored'], ['hit']]);
    expect((await ask(cached, 'price?', 'prices', 'shop')).outcomes).to.deep.equal(['hit']);
  });

  it('holds in each process that shares the store', async () => {
    const { one, other } = processes();
    await ask(one, '?', 'a');
    expect((await ask(other, '?', 'a')).outcomes).to.deep.equal(['hit']);

    await other.cache.invalidate('a');

    expect((await ask(one, '?', 'a')).outcomes).to.deep.equal(['miss', 'stored']);
  });

  it('also removes the answer of a turn that is running in another process', async () => {
    const { other, store } = processes();
    const [started, gate] = [deferred(), deferred()];
    const waiting = defineAdvisor({
      name: 'waiting',
      order: 9_000,
      around: async (request, next) => {
        started.resolve();
        await gate.promise;
        return next(request);
      },
    });
    const running = ask(cachedClient({ ...TAGGED, store }, COUNTING, waiting), '?', 'a');
    await started.promise;

    await other.cache.invalidate('a');
    gate.resolve();
    const { outcomes } = await running;

    expect(outcomes).to.deep.equal(['miss', 'refused invalidated']);
    expect((await ask(other, '?', 'a')).outcomes[0]).to.equal('miss');
  });

  it('also removes an answer whose write overtakes it', async () => {
    const store = new InMemoryKeyValueStore();
    const { one, other } = processes(store);
    const set = store.set.bind(store);
    store.set = async (key, value, options) => {
      // between the check of the tag and the write of the answer
      if (key.startsWith('response ')) await other.cache.invalidate('a');
      return set(key, value, options);
    };

    await ask(one, '?', 'a');

    expect((await ask(one, '?', 'a')).outcomes[0]).to.equal('miss');
  });

  it('holds when the store has evicted the tag', async () => {
    const store = new InMemoryKeyValueStore({ maxKeys: 3, onFull: 'evict' });
    const { one, other } = processes(store);
    await ask(one, '?', 'a');
    await other.cache.invalidate('a');

    await ask(one, 'other?', 'b'); // the tag and the answer of the first question leave the store
    const { outcomes } = await ask(one, '?', 'a');

    expect(outcomes).to.deep.equal(['miss', 'stored']);
  });

  it('after 300 random turns of two processes, no answer is older than its tag', async () => {
    const store = new InMemoryKeyValueStore();
    const random = new Random(3);
    let version = 0;
    const clients = [1, 2].map(() =>
      cachedClient({ ...TAGGED, store }, () => `Version ${version}.`),
    );

    const stale = [];
    for (let turn = 0; turn < 300; turn++) {
      if (random.chance(0.1)) {
        version++;
        await random.pick(clients).cache.invalidate('a');
      }
      const { text } = await ask(random.pick(clients), `Question ${random.below(3)}?`, 'a');
      if (text !== `Version ${version}.`) stale.push(text);
    }

    expect(version).to.be.above(10);
    expect(stale).to.deep.equal([]);
  });

  it('rejects a tag that is no text', async () => {
    const { cache } = cachedClient();

    const error = await cache.invalidate('').catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(InvalidArgumentError);
  });

  it('ends a turn whose tags are no texts', async () => {
    const { client } = cachedClient({ tags: () => 'a' as never });

    const { error } = await turnOf(client.prompt('?'));

    expect((error as Error).message).to.include('the result of tags must be an array');
  });
});
