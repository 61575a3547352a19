// 500 records, 20 at a time: rate limit, retries, cost and a progress bar. Stop it with Ctrl-C, and resume with the same file:
//   npx tsx examples/many-requests.ts results.jsonl
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  CancelledError,
  ChatClient,
  ModelCallError,
  priceTable,
  RateLimitAdvisor,
  RetryAdvisor,
  textOf,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const CONCURRENCY = 20;
const Order = z.object({ customer: z.string(), lamps: z.number().int() });
const Result = z.object({ id: z.number(), cost: z.number(), order: Order });

const records = Array.from({ length: 500 }, (_, id) => ({
  id,
  text: `Mail ${id}: send ${(id % 9) + 1} lamps to Anna, please.`,
}));

// in place of a model: every 50th request is refused at first, and each takes 30 ms
const model = new ScriptedChatModel(({ userMessage }, index) => {
  if (index % 50 === 49)
    return new ModelCallError('Too many requests', {
      status: 429,
      retryable: true,
      retryAfter: 10,
    });
  const lamps = Number(/send (\d)/.exec(textOf(userMessage ?? null))?.[1]);
  const usage = { inputTokens: 80, outputTokens: 12, totalTokens: 92 };
  return { text: JSON.stringify({ customer: 'Anna', lamps }), usage, delay: 30 };
});
const client = ChatClient.builder(model)
  .defaultSystem('Extract the order of the mail.')
  .price(priceTable({ scripted: { input: 1.25, output: 10 } })) // per million tokens
  .defaultAdvisors(
    new RetryAdvisor(), // left of the limit: each attempt counts
    new RateLimitAdvisor({ requestsPerMinute: 12_000, burst: 20 }), // 20 each tenth of a second
  )
  .build();

// a line for each finished record: what is in the file is not asked again
const file = process.argv[2] ?? join(mkdtempSync(join(tmpdir(), 'many-')), 'results.jsonl');
const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
const results = lines.map((line) => Result.parse(JSON.parse(line)));
const finished = new Set(results.map(({ id }) => id));
const progress = {
  done: finished.size,
  failed: 0,
  cost: results.reduce((sum, { cost }) => sum + cost, 0),
};
if (finished.size > 0) console.log(`resumed after ${finished.size}`);

const stop = new AbortController();
process.once('SIGINT', () => stop.abort(new Error('Ctrl-C')));

async function extract({ id, text }: (typeof records)[number]): Promise<void> {
  try {
    const call = client.prompt(text).signal(stop.signal).call();
    const { entity: order, response } = await call.responseEntity(Order);
    const { cost = 0 } = response;
    appendFileSync(file, `${JSON.stringify({ id, cost, order })}\n`);
    progress.done++;
    progress.cost += cost;
  } catch (error) {
    if (error instanceof CancelledError) return; // it is asked when the program resumes
    progress.failed++;
    console.error(`record ${id}: ${String(error)}`);
  }
  show();
}

function show(): void {
  const { done, failed, cost } = progress;
  const bar = '#'.repeat((done / records.length) * 20).padEnd(20, '.');
  const text = `[${bar}] ${done}/${records.length}, ${failed} failed, cost ${cost.toFixed(4)}`;
  if (process.stdout.isTTY) process.stdout.write(`\r${text}`);
  else if (done % 100 === 0) console.log(text);
}

// the workers share one iterator, so that each takes the next record
const rest = records.filter(({ id }) => !finished.has(id)).values();
const work = async (): Promise<void> => {
  for (const record of rest) {
    if (stop.signal.aborted) return;
    await extract(record);
  }
};
await Promise.all(Array.from({ length: CONCURRENCY }, work));

const { done, failed, cost } = progress;
const end = stop.signal.aborted ? `stopped, resume with ${file}` : 'finished';
console.log(`\n${done} of ${records.length}, ${failed} failed, cost ${cost.toFixed(4)}: ${end}`);
