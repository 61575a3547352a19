import { getEventListeners } from 'node:events';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { z } from 'zod';
import {
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  KeywordToolIndex,
  LoggerAdvisor,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ObservabilityAdvisor,
  ToolSearchAdvisor,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { collectGarbage } from './collect-garbage.js';
import { newInspector } from './inspected-turns.js';
import { runSpec } from './modes.js';
import { recordMetrics } from './recorded-telemetry.js';

/** State of the process in the middle of a soak test. */
export interface SoakSample {
  readonly turns: number;
  /** Bytes, after a garbage collection. */
  readonly heap: number;
  /** Listeners of the signal that all turns share. */
  readonly listeners: number;
  /** Timers, sockets and other things that keep the process alive. */
  readonly resources: readonly string[];
}

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: z.object({ id: z.string() }),
  execute: async ({ id }) => `result of ${id}`,
});
const hooks = defineAdvisor({
  name: 'hooks',
  order: 10,
  before: () => undefined,
  after: () => undefined,
  onEvent: () => undefined,
});

/** A model that asks for a search, two tools at once, and answers; it keeps no prompts. */
function endlessModel(): ScriptedChatModel {
  const model: ScriptedChatModel = new ScriptedChatModel(({ messages }) => {
    model.prompts.length = 0;
    const start = messages.findLastIndex(({ role }) => role === 'user');
    const results = messages.slice(start).filter(({ role }) => role === 'tool').length;
    if (results === 0)
      return { toolCalls: [{ name: 'toolSearchTool', arguments: { query: 'look' } }] };
    const call = { name: 'look', arguments: { id: 'x' } };
    return results === 1 ? { toolCalls: [call, call] } : 'It is there.';
  });
  return model;
}

function fullChain(): ChatClient {
  const quiet = { info: () => undefined, error: () => undefined };
  const repository = new InMemoryChatMemoryRepository({ maxConversations: 20, maxMessages: 40 });
  return ChatClient.builder(endlessModel())
    .defaultSystem('Be brief.')
    .defaultTools(look)
    .defaultAdvisors(
      newInspector({ maxTurns: 50 }),
      new ObservabilityAdvisor({
        tracer: new BasicTracerProvider().getTracer('soak'),
        meter: recordMetrics().meter,
      }),
      hooks,
      new MessageChatMemoryAdvisor({
        chatMemory: new MessageWindowChatMemory({ repository }),
        storeToolMessages: true,
      }),
      new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
      new LoggerAdvisor({ logger: quiet }),
    )
    .build();
}

/** Runs turns of all kinds through the full chain; returns samples at 20 % and at the end. */
export async function soak(turns: number): Promise<readonly [SoakSample, SoakSample]> {
  const client = fullChain();
  const { signal } = new AbortController();
  const run = async (from: number, to: number): Promise<SoakSample> => {
    for (let at = from; at < to; at++)
      await runSpec(
        at % 2 === 0 ? 'call' : 'stream',
        client
          .prompt(`Question ${at}`)
          .signal(signal)
          .advisors((a) => a.param(CONVERSATION_ID, `c${at % 20}`)),
      );
    return sample(to, signal);
  };
  const start = Math.floor(turns / 5);
  return [await run(0, start), await run(start, turns)];
}

async function sample(turns: number, signal: AbortSignal): Promise<SoakSample> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collectGarbage();
  }
  return {
    turns,
    heap: process.memoryUsage().heapUsed,
    listeners: getEventListeners(signal, 'abort').length,
    resources: process.getActiveResourcesInfo().toSorted(),
  };
}

/** Reasons why the second sample is not as the first one. */
export function growth([early, end]: readonly [SoakSample, SoakSample]): readonly string[] {
  const share = end.heap / early.heap - 1;
  return [
    ...(share < 0.05 ? [] : [`the heap grew by ${(share * 100).toFixed(1)} %`]),
    ...(end.listeners === early.listeners ? [] : [`${end.listeners} listeners`]),
    ...(end.resources.join() === early.resources.join() ? [] : [end.resources.join()]),
  ];
}
