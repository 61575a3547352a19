import { Client } from 'pg';
import {
  MessageWindowChatMemory,
  type ChatMemoryRepository,
  type Decision,
  type Message,
} from '../../src/index.js';
import { PostgresChatMemoryRepository } from '../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import type { KillModelServer } from './kill-model-server.js';
import {
  differences,
  repeatedWork,
  withoutIds,
  type KilledTurn,
  type TurnOutcome,
  type WorkCounts,
} from './kill-laws.js';
import type { Waiting } from './kill-dbos.js';
import { KillProcess } from './kill-process.js';
import { countSteered, withoutSteered } from './kill-steering.js';
import { effectsIn } from './kill-turn.js';
import type { WorkerSettings } from './kill-worker.js';

/** A process that runs a turn, and the number of its lines before. */
interface Execution {
  readonly worker: KillProcess;
  readonly since: number;
}

const ITERATIONS = [0, 1, 2, 3];
const TOOLS = { call_1: 'find', call_2: 'save', call_3: 'send', call_4: 'charge' };

/** The processes and stores in which turns of one kind are killed, one after another. */
export class KillLane {
  private process: KillProcess | undefined;
  private turns = 0;
  /** Ids of questions that a person was asked. */
  readonly questions: string[] = [];

  private constructor(
    private readonly file: string,
    private readonly settings: WorkerSettings,
    private readonly server: KillModelServer,
    private readonly database: Client,
    private readonly repository: ChatMemoryRepository,
  ) {}

  /** @param url address of the database of the steps */
  static async open(
    file: string,
    settings: WorkerSettings,
    url: string,
    server: KillModelServer,
  ): Promise<KillLane> {
    const database = new Client(url);
    await database.connect();
    if ('directory' in settings.database) {
      const repository = await SqliteChatMemoryRepository.open(settings.memoryFile);
      return new KillLane(file, settings, server, database, repository);
    }
    const repository = new PostgresChatMemoryRepository({ client: database });
    await repository.migrate();
    return new KillLane(file, settings, server, database, repository);
  }

  /** Runs a turn without a kill; also in the names of its places. */
  async runWhole(): Promise<{ readonly outcome: TurnOutcome; readonly points: readonly string[] }> {
    const worker = await this.ready();
    const turnId = this.newTurn();
    const since = worker.lines.length;
    worker.write({ start: turnId });
    const outcome = await this.outcomeOf([{ worker, since }], turnId);
    const [problem] = this.repeatedWork({ work: [], counts: this.countsOf(turnId) });
    if (problem !== undefined)
      throw new Error(`a turn without a kill: ${problem}; ${JSON.stringify(outcome.answer)}`);
    return { outcome, points: worker.valuesOf('point', since) as readonly string[] };
  }

  /**
   * Runs a turn whose processes end at places, one after another.
   * @param other messages that another turn adds to the conversation after the first kill
   */
  async runKilled(places: readonly string[], other: readonly Message[] = []): Promise<KilledTurn> {
    const turnId = this.newTurn();
    const work: KilledTurn['work'][number][] = [];
    const worker = await this.ready();
    const executions = [{ worker, since: worker.lines.length }];
    worker.write({ start: turnId, kill: places[0] });
    for (const at of places.keys()) {
      // a turn ends before a place that an earlier process has been at
      if (await answerOf(executions, turnId)) break;
      work.push({ recorded: await this.recordedSteps(turnId), counts: this.countsOf(turnId) });
      if (at === 0) await this.repository.append(conversationOf(turnId), other);
      executions.push({ worker: await this.restart(places[at + 1]), since: 0 });
    }
    const outcome = await this.outcomeOf(executions, turnId);
    return { work, outcome, counts: this.countsOf(turnId) };
  }

  /** The differences of a turn that is killed at places to one that was not. */
  async problemsOf(places: readonly string[], whole: TurnOutcome): Promise<readonly string[]> {
    const killed = await this.runKilled(places);
    const problems = killed.work.length === 0 ? ['it was not killed'] : [];
    problems.push(...differences(whole, killed.outcome), ...this.repeatedWork(killed));
    return problems.map((problem) => `killed at ${places.join(', then ')}: ${problem}`);
  }

  async close(): Promise<void> {
    await this.process?.kill();
    await this.database.end();
  }

  private repeatedWork(turn: Omit<KilledTurn, 'outcome'>): readonly string[] {
    return repeatedWork(turn, this.settings.steering === 'interrupt');
  }

  private newTurn(): string {
    return `turn-${this.settings.lane}-${this.turns++}`;
  }

  private async ready(): Promise<KillProcess> {
    return (this.process ??= await this.restart());
  }

  private async restart(kill?: string): Promise<KillProcess> {
    const worker = new KillProcess(this.file, { ...this.settings, kill }, ({ kind, value }) => {
      if (kind === 'waiting') worker.write({ ...(value as Waiting), decision: this.decide(value as Waiting) }); // prettier-ignore
    });
    this.process = worker;
    await worker.next(['ready']);
    return worker;
  }

  /** The decision of a person: an interrupted charge runs again if it has had no effect. */
  private decide({ decide: requestId, turnId }: Waiting): Decision {
    if (!requestId.includes('?')) return { type: 'allow', by: 'test' };
    this.questions.push(requestId);
    const isDone = this.countsOf(turnId)['tool charge call_4'] === 1;
    return { type: 'answer', value: isDone ? 'refuse' : 'run', by: 'test' };
  }

  private async outcomeOf(executions: readonly Execution[], id: string): Promise<TurnOutcome> {
    const answer = await answerOf(executions, id);
    const memory = new MessageWindowChatMemory({ repository: this.repository });
    // a process that is killed at the very end has reported, and the turn does not run again
    const valuesOf = (kind: string): readonly unknown[] =>
      executions.map(({ worker, since }) => worker.valuesOf(kind, since)).findLast((values) => values.length > 0) ?? []; // prettier-ignore
    const report = valuesOf('report').at(-1);
    const shown = (value: unknown): unknown => {
      const whole = withoutIds(value, id);
      return this.settings.steering ? withoutSteered(whole) : whole;
    };
    return {
      answer: shown(answer ?? 'the process ended'),
      report: shown(report),
      memory: shown(await memory.load(conversationOf(id))),
      text: joinedDeltas(valuesOf('event')),
      steered: countSteered((report as { readonly transcript?: unknown } | undefined)?.transcript),
    };
  }

  /** Names of the steps whose values are recorded. */
  private async recordedSteps(turnId: string): Promise<ReadonlySet<string>> {
    const sql = `SELECT function_name AS name, output FROM dbos.operation_outputs WHERE workflow_uuid = $1`;
    const { rows } = await this.database.query<{ name: string; output: string | null }>(sql, [turnId]); // prettier-ignore
    const finished = rows.filter(({ output }) => output !== null && !NO_END.test(output));
    return new Set(finished.map(({ name }) => name.replace(/ #\d+$/, '')));
  }

  private countsOf(turnId: string): WorkCounts {
    const effects = effectsIn(this.settings.effectsFile).filter((each) => each.turnId === turnId);
    const keys = new Set(effects.map(({ key }) => key));
    return {
      ...Object.fromEntries(
        ITERATIONS.map((at) => [`model ${at}`, this.server.requestsOf(turnId, at)]),
      ),
      ...Object.fromEntries(
        Object.entries(TOOLS).map(([callId, tool]) => [
          `tool ${tool} ${callId}`,
          effects.filter((effect) => effect.callId === callId).length,
        ]),
      ),
      keys: keys.size,
    };
  }
}

/** The end of a turn in its last process; undefined if the process has ended before. */
function answerOf(executions: readonly Execution[], turnId: string): Promise<unknown> {
  const { worker, since } = executions.at(-1) as Execution;
  worker.write({ result: turnId });
  return worker.next(['answer', 'failed'], since);
}

/** Records of steps that rejected, and of interrupted calls that run again. */
const NO_END = /^.{0,20}"rejected|"isRepeated/;

const conversationOf = (turnId: string): string => `conversation ${turnId}`;

/** The deltas of the whole turn, without retracted ones. */
function joinedDeltas(events: readonly unknown[]): string {
  const iterations: string[] = [];
  for (const event of events as readonly { type: string; text?: string; iteration?: number }[]) {
    if (event.type === 'iteration-start') iterations.push('');
    if (event.type === 'text-delta') iterations.push(`${iterations.pop() ?? ''}${event.text}`);
    if (event.type === 'retract') iterations.splice(event.iteration ?? 0);
  }
  return iterations.filter((text) => text !== '').join(' | ');
}
