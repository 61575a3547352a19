import { PGlite } from '@electric-sql/pglite';
import { PostgresKeyValueStore } from '../../../src/stores/key-value/postgres-key-value-store.js';
import { itBehavesLikeAKeyValueStore } from '../../../src/testing/index.js';

/** Its start alone takes seconds. */
describe('PostgresKeyValueStore, embedded', function () {
  this.timeout(60_000);
  let database: PGlite;
  let store: PostgresKeyValueStore;
  before(async () => {
    database = await PGlite.create();
    store = new PostgresKeyValueStore({ client: database });
    await store.migrate();
  });
  after(() => database.close());
  itBehavesLikeAKeyValueStore({ name: 'PostgresKeyValueStore on PGlite', create: () => store });
});
