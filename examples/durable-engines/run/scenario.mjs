// A turn whose process is killed four times: in a model call, while it waits for a person, in a tool that writes, and while it asks about that tool.
import { deepStrictEqual, match } from 'node:assert/strict';
import { World } from './world.mjs';

const MODEL = 'v1/messages';
/** Three answers and the call that was interrupted; each tool once. */
const EXPECTED = { [MODEL]: 4, 'orders/7': 1, 'customers/7': 1, 'refunds/7': 1, 'refunds/8': 1 };

/**
 * Runs the turn and checks what the model and the tools were asked.
 * @param open a function of the address of the model and the tools to a driver: `start` and `kill` a process with the engine,
 * `begin` a turn, `decide` a call, and the `result` of the turn
 */
export async function runScenario(name, open) {
  const world = await new World().start();
  const driver = await open(world.url);
  try {
    await driver.start();
    world.hold(MODEL, 2);
    await driver.begin('turn-1', 'Refund order 7.');
    await world.requested(MODEL, 2);
    await restart(driver); // the interrupted call of the model is repeated, the tools before it are not
    const requests = await Promise.all(['toolu_4', 'toolu_3'].map((id) => world.requestOf(id)));
    await restart(driver); // a wait is no step that runs
    world.hold('refunds/8', 1);
    for (const id of requests) await driver.decide('turn-1', id, { type: 'allow' });
    await world.requested('refunds/8');
    await restart(driver); // the outcome of the tool is unknown: a person is asked whether it runs again
    const question = await world.requestOf('toolu_4', 'question');
    await restart(driver);
    await driver.decide('turn-1', question, { type: 'answer', value: 'refuse' });
    deepStrictEqual(await driver.result('turn-1'), 'Order 7 of Anna is refunded.');
    deepStrictEqual(world.counts(), EXPECTED);
    match(world.prompt, /"toolu_4","content":"Not run: An earlier attempt/);
    console.log(`${name}: 4 kills, requests ${JSON.stringify(world.counts())}`);
  } finally {
    await driver.close();
    world.stop();
  }
}

async function restart(driver) {
  await driver.kill();
  await driver.start();
}
