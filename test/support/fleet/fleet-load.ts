import { DBOS } from '@dbos-inc/dbos-sdk';
import type { ChatResponse, Message } from '../../../src/index.js';
import { SILENT } from '../silent-logger.js';
import {
  createTables,
  fleetProcess,
  questionText,
  turnIdOf,
  VERSION,
  type FleetConfig,
  type FleetProcess,
  type FleetQuestion,
} from './fleet-turns.js';

/** State of the database: work that all processes have made it do. */
export interface DatabaseWork {
  /** Milliseconds in which sessions ran statements. */
  readonly activeTime: number;
  readonly commits: number;
}

/** A process that starts turns and runs none, and checks what became of them. */
export class FleetLoad {
  private constructor(private readonly process: FleetProcess) {}

  static async open(config: FleetConfig): Promise<FleetLoad> {
    const process = fleetProcess(config, 'front end');
    await createTables(process);
    DBOS.setConfig({
      name: 'fleet',
      systemDatabaseUrl: config.url,
      systemDatabasePoolSize: config.poolSize,
      applicationVersion: VERSION,
      executorID: 'front end',
      listenQueues: [],
      logger: SILENT,
    });
    await DBOS.launch();
    return new FleetLoad(process);
  }

  /** Puts turns on the queue: those of a conversation one after another, conversations at once. */
  async start(questions: readonly FleetQuestion[]): Promise<void> {
    await Promise.all(
      questions.map((question) =>
        this.process.turns.start(question, {
          turnId: turnIdOf(question),
          conversationId: question.conversation,
        }),
      ),
    );
  }

  result(question: FleetQuestion): Promise<ChatResponse> {
    return this.process.turns.result(turnIdOf(question));
  }

  /** Number of turns by the status that DBOS has stored. */
  async statuses(): Promise<Readonly<Record<string, number>>> {
    const rows = await this.query<{ status: string; count: string }>(
      'SELECT status, count(*) FROM dbos.workflow_status GROUP BY status',
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
  }

  /** Number of turns that have ended, well or not. */
  async finished(): Promise<number> {
    const { SUCCESS = 0, ERROR = 0 } = await this.statuses();
    return SUCCESS + ERROR;
  }

  async steps(): Promise<number> {
    const [row] = await this.query<{ count: string }>(
      'SELECT count(*) FROM dbos.operation_outputs',
    );
    return Number(row?.count);
  }

  /** Calls of the tool, by worker, and how many were repeated. */
  async effects(): Promise<{
    readonly byWorker: Readonly<Record<string, number>>;
    readonly repeated: number;
  }> {
    const rows = await this.query<{ call: string; worker: string }>(
      'SELECT call, worker FROM effect',
    );
    const byWorker: Record<string, number> = {};
    for (const { worker } of rows) byWorker[worker] = (byWorker[worker] ?? 0) + 1;
    return { byWorker, repeated: rows.length - new Set(rows.map(({ call }) => call)).size };
  }

  async databaseWork(): Promise<DatabaseWork> {
    // sessions report what they did when they are idle, at most once a second
    const [row] = await this.query<{ active_time: number; xact_commit: string }>(
      'SELECT active_time, xact_commit FROM pg_stat_database WHERE datname = current_database()',
    );
    return { activeTime: row?.active_time ?? 0, commits: Number(row?.xact_commit) };
  }

  /** Differences from what each turn should have answered and stored, once and in order. */
  async problems(questions: readonly FleetQuestion[]): Promise<readonly string[]> {
    const wrong: string[] = [];
    for (const question of questions) {
      const expected = answerTo(question);
      const answer = await this.result(question).then(
        ({ text }) => text,
        (error: unknown) => `failed: ${String(error)}`,
      );
      if (answer !== expected) wrong.push(`${turnIdOf(question)}: ${answer}`);
    }
    const conversations = new Set(questions.map(({ conversation }) => conversation));
    for (const conversation of conversations) {
      const { messages } = await this.process.memory.read(conversation);
      const stored = messages.map(({ message }) => textOf(message)).join('\n');
      const own = questions.filter((question) => question.conversation === conversation);
      const expected = own.flatMap((question) => [questionText(question), answerTo(question)]);
      if (stored !== expected.join('\n')) wrong.push(`memory of ${conversation}:\n${stored}`);
    }
    return wrong;
  }

  async close(): Promise<void> {
    await DBOS.shutdown({ deregister: true });
    await this.process.pool.end();
  }

  private async query<Row>(sql: string): Promise<readonly Row[]> {
    return (await this.process.pool.query(sql)).rows as readonly Row[];
  }
}

/** Questions of a number of conversations, which take turns. */
export function questionsOf(conversations: number, each: number): readonly FleetQuestion[] {
  return Array.from({ length: conversations * each }, (_, index) => ({
    conversation: `conversation-${index % conversations}`,
    at: Math.floor(index / conversations),
  }));
}

const answerTo = (question: FleetQuestion): string =>
  `${questionText(question)}, after ${question.at}`;

function textOf(message: Message): unknown {
  return message.role === 'user' ? message.content : message.role === 'assistant' && message.text;
}
