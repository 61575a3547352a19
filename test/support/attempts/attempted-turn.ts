import { setTimeout as delay } from 'node:timers/promises';
import {
  InMemoryDurableEngine,
  type ChatClient,
  type ChatResponse,
  type Decision,
  type Decisions,
  type DurableEngine,
  type DurableEntries,
  type PausedTurn,
  type PromptSpec,
  type RunReport,
  type WaitOptions,
} from '../../../src/index.js';
import type { JsonValue } from '../../../src/core/internal/json.js';
import { runSpec } from '../modes.js';
import type { Operations } from './operations.js';
import type { TurnWorld } from './turn-world.js';

/** Attempts after which a turn counts as one that can never end. */
const MOST = 5;

/** Milliseconds before a turn is resumed again that counts as running. */
const WAIT = 100;

/** Fields of the errors of attempts. */
interface AttemptError {
  readonly paused?: PausedTurn;
  readonly run?: RunReport;
  /** Of a state that cannot be used. */
  readonly reason?: string;
}

/** The end of a turn that was attempted until it ended. */
export interface TurnEnd {
  readonly response?: ChatResponse;
  /** Errors of the attempts that failed. */
  readonly errors: readonly string[];
}

/** Attempts of one turn in a world, until it ends. */
export class AttemptedTurn {
  private readonly errors: string[] = [];
  private client: ChatClient | undefined;
  private paused: PausedTurn | undefined;
  private decisions: Decisions = {};
  private entries: DurableEntries = [];

  constructor(
    private readonly world: TurnWorld,
    private readonly question: string,
    private readonly turnId: string,
  ) {}

  async run(): Promise<TurnEnd> {
    const { errors, world } = this;
    while (errors.length < MOST) {
      const response = await this.attempt();
      if (response?.paused) this.decide(response);
      else if (response) return { response, errors };
      // a turn that pauses for ever
      if (world.operations.names.length > 1_000) break;
    }
    return { errors };
  }

  private async attempt(): Promise<ChatResponse | undefined> {
    const { operations } = this.world;
    const abort = new AbortController();
    operations.cancel = () => abort.abort();
    let report: RunReport | undefined;
    try {
      const response = await runSpec(this.world.plan.mode, this.spec().signal(abort.signal));
      report = response.run;
      return response;
    } catch (error) {
      const { paused, run, reason } = error as AttemptError;
      report = run;
      // the lease of the attempt before ends
      if (reason === 'running') await delay(WAIT);
      else this.errors.push(describeError(error));
      if (paused) this.decide({ paused });
      return undefined;
    } finally {
      await report?.settled;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private spec(): PromptSpec {
    const { world, paused } = this;
    if (world.plan.isRestarted) this.client = undefined;
    if (world.plan.kind === 'durable') return this.durableSpec();
    this.client ??= world.client();
    if (paused) return world.inConversation(this.client.resume(paused.state, this.decisions));
    world.isSteered = false;
    return world.asked(this.client, this.question, this.turnId);
  }

  private durableSpec(): PromptSpec {
    const inner = new InMemoryDurableEngine(this.entries);
    const engine = new DisturbedEngine(inner, this.world.operations, () => {
      this.entries = inner.entries();
    });
    return this.world.asked(this.world.client(engine), this.question, this.turnId);
  }

  private decide({ paused }: Pick<ChatResponse, 'paused'>): void {
    this.paused = paused;
    // a call that was interrupted is asked for: it may have had its effect
    const requests = paused?.requests ?? [];
    this.decisions = Object.fromEntries(
      requests.map(({ id, type }): [string, Decision] => [
        id,
        type === 'question' ? { type: 'answer', value: 'refuse' } : { type: 'allow', by: 'anna' },
      ]),
    );
  }
}

function describeError(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return `${code ?? 'error'}: ${message}`;
}

/** An engine whose steps are operations: they fail before they run, or when they are recorded. */
class DisturbedEngine implements DurableEngine {
  constructor(
    private readonly inner: InMemoryDurableEngine,
    private readonly operations: Operations,
    private readonly onRecord: () => void,
  ) {}

  get isReplaying(): boolean {
    return this.inner.isReplaying;
  }

  async step<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    const way = this.operations.next('engine', `step ${name.replace(/ .*/, '')}`);
    if (way === 'before') throw new Error('the database of steps is down');
    if (way === 'cancel') this.operations.cancel();
    const value = await this.inner.step(name, async () => {
      const result = await run();
      // the step has run, and is not recorded
      if (way === 'after') throw new Error('the database of steps is down');
      return result;
    });
    this.onRecord();
    return value;
  }

  sleep(name: string, milliseconds: number): Promise<void> {
    return this.inner.sleep(name, milliseconds);
  }

  waitFor(name: string, options?: WaitOptions): Promise<JsonValue | undefined> {
    return this.inner.waitFor(name, options);
  }
}
