import { DbosTurns } from '../../src/durable-engines/dbos.js';
import { ChatClient } from '../../src/index.js';
import { itBehavesLikeADurableEngine, ScriptedChatModel } from '../../src/testing/index.js';
import type { TurnBody } from '../../src/testing/index.js';
import { openEmbedded, TestDbos } from '../support/dbos.js';

const client = ChatClient.create(new ScriptedChatModel(() => 'done'));

const STORES = { PostgreSQL: undefined, 'the embedded database': openEmbedded };

for (const [store, open] of Object.entries(STORES))
  describe(`DbosEngine on ${store}`, () => {
    let dbos: TestDbos | undefined;
    let turns: DbosTurns;
    /** The code of the executions that have not begun. */
    const bodies = new Map<string, TurnBody>();
    const outcomes = new Map<string, PromiseWithResolvers<unknown>>();

    before(async function () {
      dbos = await TestDbos.launch(
        this,
        () => {
          turns = new DbosTurns({
            name: 'laws',
            run: async (_, { turnId, engine }) => {
              const outcome = outcomes.get(turnId);
              await (bodies.get(turnId) as TurnBody)(engine).then(
                outcome?.resolve,
                outcome?.reject,
              );
              return client.prompt('ready?');
            },
          });
        },
        open,
      );
    });

    after(() => dbos?.stop());

    itBehavesLikeADurableEngine({
      name: `DBOS on ${store}`,
      run: async (turnId, body) => {
        const isFirst = !bodies.has(turnId);
        const outcome = withResolvers();
        bodies.set(turnId, body);
        outcomes.set(turnId, outcome);
        await (isFirst ? turns.start(null, { turnId }) : dbos?.recover(turnId));
        return (await outcome.promise) as null;
      },
      interrupt: async (turnId) => dbos?.interrupt(turnId),
      send: (turnId, name, value) => turns.send(turnId, name, value),
    });
  });

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

function withResolvers(): PromiseWithResolvers<unknown> {
  const settle: { resolve?: (value: unknown) => void; reject?: (reason: unknown) => void } = {};
  const promise = new Promise<unknown>((resolve, reject) => {
    Object.assign(settle, { resolve, reject });
  });
  return { promise, ...(settle as Required<typeof settle>) };
}
