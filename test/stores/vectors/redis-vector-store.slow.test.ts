import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { InvalidArgumentError } from '../../../src/index.js';
import { matchesFilter } from '../../../src/stores/vectors/filter.js';
import { RedisVectorStore } from '../../../src/stores/vectors/redis-vector-store.js';
import { itBehavesLikeAVectorStore } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { Random } from '../../support/random.js';
import { hasServer, REDIS } from '../../support/servers.js';

/** A server with vector sets, where the one of the other tests has none. */
const { REDIS_8_PORT = String(REDIS.connection.port) } = process.env;
const server = { ...REDIS, connection: { host: '127.0.0.1', port: Number(REDIS_8_PORT) } };
const url = `redis://127.0.0.1:${REDIS_8_PORT}`;
const keyPrefix = `advisor-chain:vectors:${randomUUID()}`;

describe('RedisVectorStore', () => {
  it('refuses wrong options', () => {
    const client = { call: () => Promise.resolve(null) };

    expect(() => new RedisVectorStore({} as never)).to.throw(InvalidArgumentError, 'client');
    expect(() => new RedisVectorStore({ client, keyPrefix: '{' })).to.throw(
      InvalidArgumentError,
      'keyPrefix',
    );
  });

  it('names what a server without vector sets needs', async () => {
    const message = 'ERR Unknown Redis command called from script script: abc, on @user_script:58.';
    const client = {
      call: (command: string) =>
        command === 'INFO' ? Promise.resolve('') : Promise.reject(new Error(message)),
    };

    const failure = await failureOf(new RedisVectorStore({ client }).list('a'));

    expect(failure).to.be.instanceOf(InvalidArgumentError);
    expect((failure as Error).message).to.equal(
      'RedisVectorStore needs vector sets: Redis 8.0 or later',
    );
  });

  describe('on a server with vector sets', () => {
    const client = createClient({ url });
    const other = new Redis(url, { lazyConnect: true });
    const store = (): RedisVectorStore => new RedisVectorStore({ client: other, keyPrefix });
    before(async function () {
      await hasServer(this, server);
      await client.connect();
      await other.connect();
      const [known] = await client.sendCommand<unknown[]>(['COMMAND', 'INFO', 'VADD']);
      if (known !== null) return;
      // the one skip that CI allows: Debian 12 has no Redis 8
      console.log(
        '      skipped: this Redis has no vector sets; set REDIS_8_PORT to the port of a Redis 8',
      );
      this.skip();
    });
    after(async () => {
      const keys = other.status === 'ready' ? await other.keys(`${keyPrefix}*`) : [];
      if (keys.length > 0) await other.del(...keys);
      if (client.isOpen) client.destroy();
      other.disconnect();
    });

    itBehavesLikeAVectorStore({
      name: 'RedisVectorStore by redis',
      create: () => new RedisVectorStore({ client, keyPrefix }),
    });
    itBehavesLikeAVectorStore({ name: 'RedisVectorStore by ioredis', create: store });

    it('finds by its index in large namespaces, and exactly where few documents pass', async () => {
      const random = new Random(34);
      const vectorOf = (): Float32Array =>
        Float32Array.from({ length: 16 }, () => random.next() - 0.5);
      const documents = Array.from({ length: 3_000 }, (_, at) => ({
        id: `d${at}`,
        text: '',
        vector: vectorOf(),
        metadata: { part: at % 300 },
      }));
      await store().upsert('large', documents);
      const dot = (a: Float32Array, b: Float32Array): number =>
        a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) / Math.hypot(...b);
      let found = 0;
      for (let query = 0; query < 40; query++) {
        const vector = vectorOf();
        const filter = query % 2 === 0 ? {} : { part: { lt: 3 } };
        const expected = documents
          .filter(({ metadata }) => matchesFilter(filter, metadata))
          .sort((a, b) => dot(vector, b.vector) - dot(vector, a.vector))
          .slice(0, 10);
        const nearest = await store().search('large', { vector, topK: 10, filter });

        expect(nearest).to.have.lengthOf(10);
        found += expected.filter(({ id }) => nearest.some((each) => each.id === id)).length;
      }

      console.log(`      ${found / 4} of 100 nearest documents found`);
      expect(found).to.be.at.least(380);
    });

    it('replaces documents by vectors of more dimensions than Lua unpacks', async () => {
      const documentOf = (id: string, dimensions: number) => {
        const vector = new Float32Array(dimensions).fill(1);
        return { id, text: '', vector, metadata: { document: 'a' } };
      };
      await store().upsert('wide', [documentOf('old', 4)]);
      const wide = documentOf('new', 9_000);
      await store().upsert('wide', [wide], { replaces: { document: 'a' } });
      const [kept, ...others] = await store().list('wide', { withVectors: true });
      const [best] = await store().search('wide', { vector: wide.vector, topK: 1 });

      expect(others).to.deep.equal([]);
      expect(kept?.vector).to.have.lengthOf(9_000);
      expect(best?.score).to.be.closeTo(1, 1e-3);
    });

    it('replaces a document by one of many concurrent versions, whole', async () => {
      const write = async (version: number): Promise<void> => {
        const chunks = Array.from({ length: 1 + (version % 5) }, (_, chunk) => ({
          id: `${version} ${chunk}`,
          text: '',
          vector: new Float32Array([1, chunk]),
          metadata: { document: 'a', version },
        }));
        await store().upsert('versions', chunks, { replaces: { document: 'a' } });
      };
      await Promise.all(Array.from({ length: 24 }, (_, at) => write(at)));

      const kept = await store().list('versions');
      const version = Number(kept[0]?.metadata?.['version']);
      expect(kept.map(({ metadata }) => metadata?.['version'])).to.deep.equal(
        Array.from({ length: 1 + (version % 5) }, () => version),
      );
    });
  });
});
