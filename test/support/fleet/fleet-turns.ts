// The turns of a fleet: what its workers run, and what starts them.
import { Pool } from 'pg';
import {
  ChatClient,
  defineTool,
  DurableAdvisor,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetryAdvisor,
} from '../../../src/index.js';
import { DbosTurns, dbosEngine } from '../../../src/engines/dbos/dbos.js';
import { PostgresChatMemoryRepository } from '../../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';

/** Settings of all processes of a fleet. */
export interface FleetConfig {
  /** Database of DBOS, of the memory and of the tool. */
  readonly url: string;
  readonly modelURL: string;
  readonly workerConcurrency: number;
  /** Interval in milliseconds at which a worker looks for turns. */
  readonly pollInterval: number;
  /** Connections of DBOS in each process. */
  readonly poolSize: number;
  /** Milliseconds in which turns of a worker can end after SIGTERM. @default 1,000 */
  readonly drainTime?: number;
}

/** A turn of a conversation: the n-th, counted from 0. */
export type FleetQuestion = { readonly conversation: string; readonly at: number };

export const QUEUE = 'fleet';
export const VERSION = 'fleet-1';
/** Messages of a memory; conversations of tests are shorter. */
const WINDOW = 200;

export function questionText({ conversation, at }: FleetQuestion): string {
  return `question ${at} of ${conversation}`;
}

export function turnIdOf({ conversation, at }: FleetQuestion): string {
  return `${conversation}-${at}`;
}

/** Parts of one process of a fleet. */
export interface FleetProcess {
  readonly turns: DbosTurns<FleetQuestion>;
  readonly pool: Pool;
  readonly memory: PostgresChatMemoryRepository;
}

export function fleetProcess(config: FleetConfig, worker: string): FleetProcess {
  const pool = new Pool({ connectionString: config.url, max: 4 });
  // a pool without a listener ends the process when the server closes an idle connection
  pool.on('error', () => undefined);
  const memory = new PostgresChatMemoryRepository({ client: pool });
  const model = new OpenAIChatModel({ model: 'm', apiKey: 'k', baseURL: config.modelURL });
  const chatMemory = new MessageWindowChatMemory({ repository: memory, maxMessages: WINDOW });
  const client = ChatClient.builder(model)
    .defaultTools(bookTool(pool, worker))
    .defaultAdvisors(
      new MessageChatMemoryAdvisor({ chatMemory }),
      new RetryAdvisor({ maxRetries: 5, firstDelay: 200 }),
      new DurableAdvisor({ engine: dbosEngine }),
    )
    .build();
  const { workerConcurrency, pollInterval } = config;
  const turns = new DbosTurns<FleetQuestion>({
    name: QUEUE,
    run: (question) => client.prompt(questionText(question)),
    queue: { workerConcurrency, pollInterval },
  });
  return { turns, pool, memory };
}

/** A tool with an effect that happens once for each call, however often the call is made. */
function bookTool(pool: Pool, worker: string): ReturnType<typeof defineTool> {
  return defineTool({
    name: 'book',
    description: 'Books something.',
    input: { type: 'object', properties: { what: { type: 'string' } } },
    effect: 'idempotent',
    execute: async (_, { call }) => {
      await pool.query('INSERT INTO effect (call, worker) VALUES ($1, $2)', [call.id, worker]);
      return `booked by ${call.id}`;
    },
  });
}

export async function createTables({ pool, memory }: FleetProcess): Promise<void> {
  await memory.migrate();
  await pool.query(
    'CREATE TABLE IF NOT EXISTS effect (call text, worker text, at timestamptz DEFAULT now())',
  );
}
