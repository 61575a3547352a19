import { setTimeout as delay } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import {
  AdvisorChainError,
  type ChatMemoryRepository,
  type ChatResponse,
  type Message,
} from '../../../src/index.js';
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
  /** Connections that are open. */
  readonly connections: number;
}

/** Ends of turns. */
export interface Outcomes {
  readonly answered: readonly FleetQuestion[];
  readonly failures: Readonly<Record<string, number>>;
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

  /** Puts turns on the queue: in a conversation one after another, conversations at once. */
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

  /** Resolves once a number of turns has ended; asks again while the database is away. */
  async untilFinished(count: number): Promise<void> {
    while ((await this.finished().catch(() => 0)) < count) await delay(50);
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
    const [row] = await this.query<{
      active_time: number;
      xact_commit: string;
      numbackends: number;
    }>(
      'SELECT active_time, xact_commit, numbackends FROM pg_stat_database WHERE datname = current_database()',
    );
    const { active_time: activeTime = 0, numbackends: connections = 0 } = row ?? {};
    return { activeTime, commits: Number(row?.xact_commit), connections };
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

  /** Numbers of turns: with an answer, and by the code of the error. */
  async outcomes(questions: readonly FleetQuestion[]): Promise<Outcomes> {
    const failures: Record<string, number> = {};
    const answered: FleetQuestion[] = [];
    for (const question of questions)
      await this.result(question).then(
        () => answered.push(question),
        (error: unknown) => {
          const code = codeOf(error);
          failures[code] = (failures[code] ?? 0) + 1;
        },
      );
    return { answered, failures };
  }

  /** Conversations whose memory does not have each of the turns once and in order, or has others twice. */
  async orderProblems(answered: readonly FleetQuestion[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const conversation of new Set(answered.map((question) => question.conversation))) {
      const stored = await storedTurns(this.process.memory, conversation);
      const own = answered.filter((question) => question.conversation === conversation);
      const isInOrder = stored.every((at, index) => index === 0 || (stored[index - 1] ?? 0) < at);
      if (!isInOrder || own.some(({ at }) => !stored.includes(at)))
        problems.push(`${conversation}: ${stored.join()} of ${own.map(({ at }) => at).join()}`);
    }
    return problems;
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

/** Numbers of the questions in a memory, in its order. */
export async function storedTurns(
  memory: ChatMemoryRepository,
  conversation: string,
): Promise<readonly number[]> {
  const { messages } = await memory.read(conversation);
  return messages.flatMap(({ message }) =>
    message.role === 'user' ? [Number(/^question (\d+)/.exec(textOf(message))?.[1])] : [],
  );
}

/** The text of a message whose content has no other parts. */
function textOf(message: Message): string {
  if (message.role !== 'assistant' && message.role !== 'user') return '';
  return typeof message.content === 'string' ? message.content : '';
}

/** The code of a typed error; of another one its text. */
export function codeOf(error: unknown): string {
  return AdvisorChainError.isInstance(error) ? error.code : String(error);
}
