import { EMPTY, Observable } from 'rxjs';
import { ToolCallingAdvisor } from '../../advisors/tool-calling-advisor.js';
import {
  AdvisorContext,
  ChatClient,
  ChatResponse,
  defineTool,
  ToolCallingManager,
  type ChatEvent,
  type ChatModel,
} from '../../src/index.js';

/** Cost of a long turn. */
export interface Cost {
  readonly executions: number;
  readonly text: string | null;
  readonly milliseconds: number;
  /** Bytes that the heap grew by, per iteration, at the end of the turn; garbage is collected only where node lets us. */
  readonly bytesPerIteration: number;
}

/** A model that answers synchronously, asks for a tool a number of times and then ends. */
function tireless(iterations: number, atEnd: () => void): ChatModel {
  let asked = 0;
  const answer = (): ChatResponse => {
    if (asked++ >= iterations) {
      atEnd();
      return ChatResponse.ofText('Done.');
    }
    const toolCalls = [{ id: `call_${asked}`, name: 'count', arguments: `{"n":${asked}}` }];
    return new ChatResponse({
      generations: [
        { message: { role: 'assistant', content: null, toolCalls }, finishReason: 'tool_calls' },
      ],
    });
  };
  return {
    defaultOptions: {},
    call: () => Promise.resolve(answer()),
    stream: () =>
      new Observable<ChatEvent>((subscriber) => {
        subscriber.next({ type: 'response', response: answer(), context: AdvisorContext.empty });
        subscriber.complete();
        return EMPTY.subscribe();
      }),
  };
}

const UNLIMITED = {
  maxIterations: Infinity,
  maxModelCalls: Infinity,
  maxTurnLength: Infinity,
  maxDuration: Infinity,
};

/** Runs a turn of many iterations. */
export async function longLoop(
  iterations: number,
  mode: 'call' | 'stream',
  keepHistory: boolean,
): Promise<Cost> {
  let executions = 0;
  let heap = 0;
  const count = defineTool({ name: 'count', execute: () => ++executions });
  const manager = new ToolCallingManager({ maxCallsPerTool: Infinity, maxTotalCalls: Infinity });
  const collect = (): number => (globalThis.gc?.(), process.memoryUsage().heapUsed);
  const before = collect();
  const start = performance.now();
  const spec = ChatClient.create(tireless(iterations, () => (heap = collect())))
    .prompt('Count.')
    .tools(count)
    .advisors(new ToolCallingAdvisor({ manager, keepHistory, ...UNLIMITED }));
  const text =
    mode === 'call' ? await spec.call().content() : await lastText(spec.stream().chatResponse());
  const milliseconds = performance.now() - start;
  return { executions, text, milliseconds, bytesPerIteration: (heap - before) / iterations };
}

function lastText(source: Observable<ChatResponse>): Promise<string | null> {
  return new Promise((resolve, reject) =>
    source.subscribe({ next: (response) => resolve(response.text), error: reject }),
  );
}

const [iterations, mode, keepHistory] = process.argv.slice(2);
if (mode === 'call' || mode === 'stream')
  console.log(JSON.stringify(await longLoop(Number(iterations), mode, keepHistory === 'true')));
