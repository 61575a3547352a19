import { expect } from 'chai';
import { ChatClient, defineTool } from '../../../src/index.js';
import type { Json } from '../../support/cassettes.js';
import { MODES, runSpec } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import { chunk, sendEvents, sendJson, type Exchange } from '../../support/wire-server.js';

/** A delay in milliseconds that only the limits under test have; their timers may fire a bit earlier. */
const LIMIT = 2 ** 30;
const SLACK = 2 ** 20;

/** Timers of the limits under test that are running. */
class WireTimers {
  private readonly real = { setTimeout, clearTimeout };
  private readonly running = new Set<unknown>();

  constructor() {
    const { real, running } = this;
    globalThis.setTimeout = ((run: () => void, delay: number) => {
      const timer = real.setTimeout(run, delay);
      if (Math.abs(delay - LIMIT) < SLACK) {
        running.add(timer);
      }
      return timer;
    }) as typeof setTimeout;
    globalThis.clearTimeout = ((timer: NodeJS.Timeout | undefined) => {
      running.delete(timer);
      real.clearTimeout(timer);
    }) as typeof clearTimeout;
  }

  get count(): number {
    return this.running.size;
  }

  restore(): void {
    Object.assign(globalThis, this.real);
  }
}

const CALL = { index: 0, id: 'c', type: 'function', function: { name: 'slow', arguments: '{}' } };

/** Asks for the tool first, and answers when it has the result. */
function answer(exchange: Exchange): void {
  const [message, reason]: [Json, string] =
    exchange.index === 0 ? [{ tool_calls: [CALL] }, 'tool_calls'] : [{ content: 'Done.' }, 'stop'];
  if (exchange.body['stream'] === true)
    return sendEvents(exchange, [chunk(message, reason), '[DONE]']);
  sendJson(exchange, { choices: [{ index: 0, message, finish_reason: reason }] });
}

describe('the timers of a model', () => {
  const wire = useWireModel();
  let timers: WireTimers;
  beforeEach(() => (timers = new WireTimers()));
  afterEach(() => timers.restore());

  for (const mode of MODES)
    it(`[F29] run while a request does, but neither while a tool runs nor after the answer (${mode})`, async () => {
      const counts: number[] = [];
      wire.answer = (exchange) => {
        counts.push(timers.count);
        answer(exchange);
      };
      const limits = { timeout: LIMIT, firstChunkTimeout: LIMIT, idleTimeout: LIMIT };
      const model = wire.modelWith({ ...limits, totalTimeout: LIMIT });
      const execute = (): string => {
        counts.push(timers.count);
        return 'slept well';
      };
      const spec = ChatClient.create(model)
        .prompt('Go.')
        .tools(defineTool({ name: 'slow', execute }));

      const { chatResponse } = await runSpec(mode, spec);

      expect(chatResponse?.text).to.equal('Done.');
      expect([...counts, timers.count]).to.deep.equal([1, 0, 1, 0]);
    });
});
