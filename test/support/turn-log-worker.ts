// A process that runs or reads a turn of a log, and may be killed at any moment: the kill matrix starts it.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { toResponse } from '../../src/bridges/http/index.js';
import { TurnStreams, type TurnLog } from '../../src/bridges/turn-log/index.js';
import {
  ChatClient,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  type ChatEvent,
  type DurableEngine,
  type DurableEntries,
} from '../../src/index.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { PostgresTurnLog } from '../../src/stores/turn-logs/postgres-turn-log.js';
import { RedisTurnLog } from '../../src/stores/turn-logs/redis-turn-log.js';
import { ScriptedChatModel } from '../../src/testing/scripted-chat-model.js';

/** Settings of a {@link TurnLogProcess}. */
export interface TurnLogWork {
  readonly role: 'plain' | 'durable' | 'reader';
  /** Port of Redis, or the address of PostgreSQL. */
  readonly server: number | string;
  readonly key: string;
  /** Number of this writer. */
  readonly number?: number;
  /** File of the steps of a durable turn. */
  readonly file?: string;
  readonly lastEventId?: string | undefined;
}

/** Number of deltas of a plain run. */
export const DELTAS = 250;
const ITERATIONS = 4;

/** Records steps in a file, which a killed process leaves. */
class FileEngine implements DurableEngine {
  private readonly inner: InMemoryDurableEngine;

  constructor(private readonly file: string) {
    this.inner = new InMemoryDurableEngine(recordedSteps(file));
  }

  get isReplaying(): boolean {
    return this.inner.isReplaying;
  }

  async step<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    let hasRun = false;
    const value = await this.inner.step(name, () => ((hasRun = true), run()));
    if (hasRun) appendFileSync(this.file, `${JSON.stringify([name, value])}\n`);
    return value;
  }

  sleep = (): Promise<void> => Promise.reject(new Error('not used'));
  waitFor = (): Promise<undefined> => Promise.reject(new Error('not used'));
}

/** The steps in a file; a line that was cut is none. */
export function recordedSteps(file: string): DurableEntries {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as [string, JsonValue]);
}

async function* plainRun(): AsyncGenerator<ChatEvent> {
  yield { type: 'iteration-start', index: 0 };
  for (let at = 0; at < DELTAS; at++) {
    yield { type: 'text-delta', text: `${at} ` };
    if (at % 2 === 0) await delay(2);
  }
}

function durableRun({ key, number = 0, file = '' }: TurnLogWork) {
  const model = new ScriptedChatModel(({ messages }) => {
    const iteration = messages.filter(({ role }) => role === 'assistant').length;
    const words = Array.from({ length: 30 }, (_, at) => `word ${at} of writer ${number}`);
    const text = `Iteration ${iteration}: ${words.join(', ')}.`;
    const calls = [1, 2].map((at) => ({ id: `c${iteration}-${at}`, name: 'find' }));
    return { text, delay: 1, ...(iteration < ITERATIONS - 1 && { toolCalls: calls }) };
  });
  const find = defineTool({
    name: 'find',
    effect: 'read',
    execute: async () => (await delay(5), 'found'),
  });
  return ChatClient.builder(model)
    .defaultTools(find)
    .defaultAdvisors(new DurableAdvisor({ engine: new FileEngine(file) }))
    .build()
    .prompt('Q')
    .turnId(key)
    .stream();
}

/** Prints each event with its id, once the whole frame is there. */
async function read(streams: TurnStreams, { key, lastEventId: from }: TurnLogWork): Promise<void> {
  let lastEventId = from;
  let hasFailed = false;
  for (;;) {
    const events = await streams.resume(key, { lastEventId }).catch(() => 'away' as const);
    if (events === 'away') {
      await delay(20);
      continue;
    }
    if (!events) {
      // 204: before the run begins, and after its end
      if (lastEventId !== undefined) return print('end', null);
      await delay(20);
      continue;
    }
    const response = await toResponse(events, { format: 'sse' });
    if (response.status === 204) return print('end', null);
    const parser = createParser({
      onEvent: ({ id, data }) => {
        lastEventId = id ?? lastEventId;
        hasFailed ||= data.startsWith('{"type":"error"');
        print('event', { id, data: JSON.parse(data) as unknown });
      },
    });
    if (!response.ok) return print('status', response.status);
    parser.feed(await decode(response, (text) => parser.feed(text)));
    if (hasFailed) return print('end', null);
  }
}

async function decode(response: Response, feed: (text: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
    feed(decoder.decode(chunk, { stream: true }));
  return decoder.decode();
}

function print(kind: string, value: unknown): void {
  process.stdout.write(`${kind} ${JSON.stringify(value)}\n`);
}

async function openLog(server: number | string): Promise<TurnLog> {
  if (typeof server === 'number') {
    const client = new Redis({ port: server, maxRetriesPerRequest: 1 });
    client.on('error', () => undefined);
    return new RedisTurnLog({ client });
  }
  const client = new Pool({ connectionString: server, max: 2 });
  client.on('error', () => undefined);
  return new PostgresTurnLog({ client });
}

export async function work(settings: TurnLogWork): Promise<void> {
  const { role, key, server } = settings;
  const log = await openLog(server);
  const streams = new TurnStreams({ log, lease: 500, writeInterval: 5, recovery: 60_000 });
  if (role === 'reader') return read(streams, settings);
  const stream = role === 'plain' ? plainRun() : durableRun(settings);
  const turnId = role === 'durable' ? { turnId: key } : {};
  const started = await streams.start(key, stream as AsyncIterable<ChatEvent>, turnId);
  print('started', null);
  await started.ended;
  print('ended', null);
}

const [, , json] = process.argv;
if (json?.startsWith('{"role"'))
  work(JSON.parse(json) as TurnLogWork).then(
    () => process.exit(0),
    (error: unknown) => {
      print('error', String(error));
      process.exit(1);
    },
  );
