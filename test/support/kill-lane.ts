import { Client } from 'pg';
import {
  MessageWindowChatMemory,
  type ChatMemoryRepository,
  type Message,
} from '../../src/index.js';
import { PostgresChatMemoryRepository } from '../../src/memory-repositories/postgres-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../src/memory-repositories/sqlite-chat-memory-repository.js';
import type { KillModelServer } from './kill-model-server.js';
import {
  differences,
  repeatedWork,
  type KilledTurn,
  type TurnOutcome,
  type WorkCounts,
} from './kill-laws.js';
import { KillProcess } from './kill-process.js';
import { effectsIn } from './kill-turn.js';
import type { WorkerSettings } from './kill-worker.js';

const ITERATIONS = [0, 1, 2, 3];
const TOOLS = { call_1: 'find', call_2: 'save', call_3: 'send', call_4: 'charge' };

/** The processes and stores in which turns of one kind are killed, one after another. */
export class KillLane {
  private process: KillProcess | undefined;
  private turns = 0;

  private constructor(
    private readonly file: string,
    private readonly settings: WorkerSettings,
    private readonly server: KillModelServer,
    private readonly database: Client,
    private readonly repository: ChatMemoryRepository,
  ) {}

  static async open(
    file: string,
    settings: WorkerSettings,
    server: KillModelServer,
  ): Promise<KillLane> {
    const database = new Client(settings.url);
    await database.connect();
    const { memoryFile } = settings;
    if (memoryFile !== undefined)
      return new KillLane(file, settings, server, database, await SqliteChatMemoryRepository.open(memoryFile)); // prettier-ignore
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
    const outcome = await this.outcomeOf(worker, turnId, since);
    const [problem] = repeatedWork({ work: [], counts: this.countsOf(turnId) });
    if (problem !== undefined) throw new Error(`a turn without a kill: ${problem}`);
    return { outcome, points: worker.valuesOf('point', since) as readonly string[] };
  }

  /**
   * Runs a turn whose processes end at places, one after another.
   * @param other messages that another turn adds to the conversation after the first kill
   */
  async runKilled(places: readonly string[], other: readonly Message[] = []): Promise<KilledTurn> {
    const turnId = this.newTurn();
    const work: KilledTurn['work'][number][] = [];
    let worker = await this.ready();
    let since = worker.lines.length;
    worker.write({ start: turnId, kill: places[0] });
    for (const at of places.keys()) {
      worker.write({ result: turnId });
      // a turn ends before a place that an earlier process has been at
      if (await worker.next(['answer', 'failed'], since)) break;
      work.push({ recorded: await this.recordedSteps(turnId), counts: this.countsOf(turnId) });
      if (at === 0) await this.repository.append(conversationOf(turnId), other);
      worker = await this.restart(places[at + 1]);
      since = 0;
    }
    const outcome = await this.outcomeOf(worker, turnId, since);
    return { work, outcome, counts: this.countsOf(turnId) };
  }

  /** The differences of a turn that is killed at places to one that was not. */
  async problemsOf(places: readonly string[], whole: TurnOutcome): Promise<readonly string[]> {
    const killed = await this.runKilled(places);
    const problems = killed.work.length === 0 ? ['it was not killed'] : [];
    problems.push(...differences(whole, killed.outcome), ...repeatedWork(killed));
    return problems.map((problem) => `killed at ${places.join(', then ')}: ${problem}`);
  }

  async close(): Promise<void> {
    await this.process?.kill();
    await this.database.end();
  }

  private newTurn(): string {
    return `turn-${this.settings.lane}-${this.turns++}`;
  }

  private async ready(): Promise<KillProcess> {
    return (this.process ??= await this.restart());
  }

  private async restart(kill?: string): Promise<KillProcess> {
    const worker = new KillProcess(this.file, { ...this.settings, kill }, ({ kind, value }) => {
      if (kind === 'waiting') worker.write({ ...(value as { decide: string; turnId: string }) });
    });
    this.process = worker;
    await worker.next(['ready']);
    return worker;
  }

  private async outcomeOf(worker: KillProcess, id: string, since: number): Promise<TurnOutcome> {
    worker.write({ result: id });
    const answer = await worker.next(['answer', 'failed'], since);
    const withoutId = (value: unknown): unknown =>
      JSON.parse((JSON.stringify(value) ?? 'null').replaceAll(id, '<turn>'));
    const memory = new MessageWindowChatMemory({ repository: this.repository });
    return {
      answer: withoutId(answer ?? 'the process ended'),
      report: withoutId(worker.valuesOf('report', since).at(-1)),
      memory: withoutId(await memory.load(conversationOf(id))),
      text: joinedDeltas(worker.valuesOf('event', since)),
    };
  }

  /** Names of the steps whose values are recorded. */
  private async recordedSteps(turnId: string): Promise<ReadonlySet<string>> {
    const sql = `SELECT function_name AS name, output FROM dbos.operation_outputs WHERE workflow_uuid = $1`;
    const { rows } = await this.database.query<{ name: string; output: string | null }>(sql, [turnId]); // prettier-ignore
    const finished = rows.filter(({ output }) => output !== null && !/^.{0,20}"rejected/.test(output)); // prettier-ignore
    return new Set(finished.map(({ name }) => name));
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

const conversationOf = (turnId: string): string => `conversation ${turnId}`;

/** The deltas of the whole turn, without retracted ones. */
function joinedDeltas(events: readonly unknown[]): string {
  const iterations: string[] = [];
  for (const event of events as readonly { type: string; text?: string; iteration?: number }[]) {
    if (event.type === 'iteration-start') iterations.push('');
    if (event.type === 'text-delta') iterations.push(`${iterations.pop() ?? ''}${event.text}`);
    if (event.type === 'retract') iterations.splice(event.iteration ?? 0);
  }
  return iterations.join(' | ');
}
