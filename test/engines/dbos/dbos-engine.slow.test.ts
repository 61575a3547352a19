import type { JsonValue } from '../../../src/core/internal/json.js';
import { DbosTurns } from '../../../src/engines/dbos/dbos.js';
import { DurableRun } from '../../../src/engines/recorder/durable-run.js';
import { ChatClient } from '../../../src/index.js';
import { itBehavesLikeADurableEngine, ScriptedChatModel } from '../../../src/testing/index.js';
import type { TurnBody } from '../../../src/testing/index.js';
import { openEmbedded, TestDbos } from '../../support/dbos.js';
import { itBehavesLikeARunRecorder } from '../../support/recorder-contract.js';

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

    const run = async (turnId: string, body: TurnBody): Promise<JsonValue> => {
      const isFirst = !bodies.has(turnId);
      const outcome = withResolvers();
      bodies.set(turnId, body);
      outcomes.set(turnId, outcome);
      await (isFirst ? turns.start(null, { turnId }) : dbos?.recover(turnId));
      return (await outcome.promise) as JsonValue;
    };
    const interrupt = async (turnId: string): Promise<void> => dbos?.interrupt(turnId);

    itBehavesLikeADurableEngine({
      name: `DBOS on ${store}`,
      run,
      interrupt,
      send: (turnId, name, value) => turns.send(turnId, name, value),
    });
    itBehavesLikeARunRecorder({
      name: `The recorder of DBOS on ${store}`,
      records: true,
      waits: 'for a value',
      run: (turnId, body) => run(turnId, (engine) => body(new DurableRun(engine))),
      interrupt,
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
