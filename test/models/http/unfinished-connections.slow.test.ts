import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Prompt } from '../../../src/index.js';
import type { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  whenClosed,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const USAGE = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
/** A time in which a finished answer may still continue, and one in which it has ended. */
const [SHORT, LONG] = [1_200, 2_500];
const asks = {
  call: (model: OpenAIChatModel) => model.call(PROMPT),
  stream: (model: OpenAIChatModel) => lastOf(model.stream(PROMPT)),
};

/** A whole tool call with the finish reason that some servers send after every one. */
function callChunk(index: number): object {
  const called = { name: 'tool', arguments: '{}' };
  const call = { index, id: `c${index}`, type: 'function', function: called };
  return chunk({ tool_calls: [call] }, 'tool_calls');
}

describe('an answer with a finish reason, but no end', function () {
  this.timeout(20_000); // far below the other time limits
  const wire = useWireModel();

  for (const [mode, ask] of Object.entries(asks)) {
    it(`[F45] ends two seconds after its last data, in a ${mode}`, async () => {
      wire.answer = (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
      };

      const response = await ask(wire.model);

      expect(response).to.include({ text: 'x', finishReason: 'stop' });
      await whenClosed((wire.server.exchanges[0] as Exchange).socket, 0);
    });

    it(`waits for its usage while data arrives, in a ${mode}`, async () => {
      wire.answer = async (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
        await sleep(SHORT);
        exchange.response.write(': keep-alive\n\n');
        await sleep(SHORT);
        sendEvent(exchange, { choices: [], usage: USAGE });
        sendEvent(exchange, '[DONE]');
      };

      const { usage } = await ask(wire.model);

      expect(usage?.totalTokens).to.equal(3);
    });

    it(`waits for more calls after one, in a ${mode}`, async () => {
      wire.answer = async (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, callChunk(0));
        await sleep(LONG);
        sendEvent(exchange, callChunk(1));
        sendEvent(exchange, '[DONE]');
      };

      const { toolCalls = [] } = (await ask(wire.model)).message;

      expect(toolCalls.map(({ id }) => id)).to.deep.equal(['c0', 'c1']);
    });
  }

  /** Answers with usage a moment after the finish reason. */
  async function answerLater(exchange: Exchange): Promise<void> {
    beginEvents(exchange);
    sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
    await sleep(50);
    await new Promise(setImmediate); // what is sent then is read after the timers
    sendEvent(exchange, { choices: [], usage: USAGE });
    sendEvent(exchange, '[DONE]');
  }

  it('does not count the time of the consumer', async () => {
    wire.answer = answerLater;
    let paused = false;
    const ready = (): Promise<void> | undefined => {
      if (paused) return undefined;
      paused = true;
      return sleep(2_050);
    };

    const { usage } = await lastOf(wire.model.stream(PROMPT, { ready }));

    expect(usage?.totalTokens).to.equal(3);
    expect(paused).to.equal(true);
  });

  it('reads first what arrived while the process was busy', async () => {
    wire.answer = async (exchange) => {
      await answerLater(exchange);
      process.nextTick(block, LONG); // after the response has reached its socket
    };

    const { usage } = await asks.stream(wire.model);

    expect(usage?.totalTokens).to.equal(3);
  });
});

/** Keeps the process from reading its sockets. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}
