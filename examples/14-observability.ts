// Time and tokens of a turn: its spans, recorded without an OpenTelemetry SDK and printed as a tree.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ObservabilityAdvisor,
} from '../src/index.js';
import { describeRun, RecordingTracer, ScriptedChatModel } from '../src/testing/index.js';

let failures = 1;
const findParcel = defineTool({
  name: 'find_parcel',
  description: 'Where a parcel is.',
  input: z.object({ parcel: z.string() }),
  effect: 'read',
  retries: 1,
  execute: async ({ parcel }, { signal }) => {
    await sleep(20, undefined, { signal });
    if (failures-- > 0) throw new Error('connection lost'); // retried after 200 ms
    return `${parcel} is in Rome.`;
  },
});

const model = new ScriptedChatModel([
  {
    toolCalls: [{ name: 'find_parcel', arguments: { parcel: 'P-7' } }],
    delay: 30,
    usage: { inputTokens: 1_210, outputTokens: 15, totalTokens: 1_225, cachedInputTokens: 1_024 },
  },
  {
    text: 'Your parcel is in Rome.',
    delay: 30,
    usage: { inputTokens: 1_252, outputTokens: 7, totalTokens: 1_259, cachedInputTokens: 1_152 },
  },
]);

// An application needs no tracer here. Start an SDK before the first turn, such as `new NodeSDK({ traceExporter: new OTLPTraceExporter() })`
// of @opentelemetry/sdk-node, and `new ObservabilityAdvisor()` records with the registered tracer, below the active span.
const tracer = new RecordingTracer();
const observability = new ObservabilityAdvisor({
  tracer,
  attributes: { 'gen_ai.agent.name': 'parcels' },
});

const chatMemory = new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() });
const client = ChatClient.builder(model)
  .defaultTools(findParcel)
  .defaultAdvisors(observability, new MessageChatMemoryAdvisor({ chatMemory }))
  .build();

const answer = client.prompt('Where is my parcel P-7?').conversation('anna-7').stream();
for await (const text of answer) process.stdout.write(text);
console.log(`\n\n${describeRun(tracer.spans)}`);

// the spans as data, for the assertions of a test
const [turn] = tracer.spans;
console.log(
  `\nconversation: ${String(turn?.attributes['gen_ai.conversation.id'])}, spans: ${tracer.spans.length}`,
);
