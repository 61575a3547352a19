// The turns of an assistant: the web process starts them, the workers run them.
import { Pool } from 'pg';
import {
  ChatClient,
  DurableAdvisor,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetryAdvisor,
} from '../../src/index.js';
import { DbosTurns, dbosEngine } from '../../src/engines/dbos/dbos.js';
import { PostgresChatMemoryRepository } from '../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';

const {
  DATABASE_URL: url = '',
  OPENAI_BASE_URL: baseURL,
  OPENAI_MODEL: modelName = 'gpt-5-mini',
  WORKER_ID: executorID = 'worker',
  CONCURRENCY: concurrency = '20',
} = process.env;

/** Name of the turns, and of their queue. */
export const NAME = 'assistant';

const pool = new Pool({ connectionString: url, max: 5 });
// without a listener, an idle connection that the server closes ends the process
pool.on('error', (error) => console.error(`PostgreSQL: ${error.message}`));

const repository = new PostgresChatMemoryRepository({ client: pool });
await repository.migrate();

const client = ChatClient.builder(
  new OpenAIChatModel({ model: modelName, ...(baseURL !== undefined && { baseURL }) }),
)
  .defaultSystem('You are the assistant of a shop.')
  .defaultAdvisors(
    new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }),
    new RetryAdvisor(),
    new DurableAdvisor({ engine: dbosEngine }),
  )
  .build();

export const turns = new DbosTurns<string>({
  name: NAME,
  run: (question) => client.prompt(question),
  queue: { workerConcurrency: Number(concurrency) },
});

/** Settings of DBOS that web process and workers share. */
export const settings = {
  name: NAME,
  systemDatabaseUrl: url,
  systemDatabasePoolSize: 10,
  /** Stays the same when the process starts again, and differs from all others. */
  executorID,
  /** The workers of one version take its turns; see docs/scaling.md. */
  applicationVersion: process.env['VERSION'] ?? '1',
};
