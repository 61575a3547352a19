import { PGlite } from '@electric-sql/pglite';
import { PostgresChatMemoryRepository } from '../../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { itBehavesLikeAChatMemoryRepository } from '../../../src/testing/index.js';

/** Its start alone takes seconds. */
describe('PostgresChatMemoryRepository, embedded', function () {
  this.timeout(60_000);
  let client: PGlite;
  let store: PostgresChatMemoryRepository;
  before(async () => {
    client = await PGlite.create();
    store = new PostgresChatMemoryRepository({ client });
    await store.migrate();
  });
  after(() => client.close());
  itBehavesLikeAChatMemoryRepository({
    name: 'PostgresChatMemoryRepository on PGlite',
    create: () => store,
  });
});
