import { expect } from 'chai';
import { CancelledError, InvalidArgumentError } from '../../../src/index.js';
import { PostgresVectorStore } from '../../../src/stores/vectors/postgres-vector-store.js';
import { failureOf } from '../../support/modes.js';

const vector = new Float32Array([1, 0]);

describe('PostgresVectorStore without a server', () => {
  it('ends the wait for a server that does not answer with the signal', async () => {
    const client = { query: () => new Promise<never>(() => undefined) };
    const store = new PostgresVectorStore({ client });
    for (const act of [
      (signal: AbortSignal) => store.search('n', { vector, topK: 1 }, { signal }),
      (signal: AbortSignal) => store.upsert('n', [{ id: 'a', text: '', vector }], { signal }),
    ]) {
      const controller = new AbortController();
      const failure = failureOf(act(controller.signal));
      controller.abort('enough');

      expect(await failure).to.be.instanceOf(CancelledError);
      expect(await failure).to.have.property('cause', 'enough');
    }
  });

  it('passes errors of the client on', async () => {
    const failure = new Error('connection refused');
    const store = new PostgresVectorStore({ client: { query: () => Promise.reject(failure) } });

    for (const act of [
      () => store.migrate(),
      () => store.upsert('n', [{ id: 'a', text: '', vector }]),
      () => store.search('n', { vector, topK: 1 }),
      () => store.list('n'),
      () => store.delete('n', ['a']),
      () => store.clear('n'),
    ])
      expect(await failureOf(act())).to.equal(failure);
  });

  it('rejects what is no client', () => {
    for (const wrong of [undefined, {}, { client: {} }] as never[])
      expect(() => new PostgresVectorStore(wrong)).to.throw(
        InvalidArgumentError,
        'PostgresVectorStore: client must be a client with a method query',
      );
  });
});
