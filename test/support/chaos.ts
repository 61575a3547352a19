import { expect } from 'chai';
import { z } from 'zod';
import {
  AdvisorChainError,
  BudgetAdvisor,
  ChatClient,
  CompactionAdvisor,
  CONVERSATION_ID,
  ConversationLockAdvisor,
  defineAdvisor,
  defineTool,
  FallbackAdvisor,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ObservabilityAdvisor,
  piiRule,
  PromptCacheAdvisor,
  RetryAdvisor,
  StructuredOutputAdvisor,
  TimeoutAdvisor,
  ToolCallingAdvisor,
  ToolLedgerAdvisor,
  ToolSearchAdvisor,
  type Advisor,
  type ChatEvent,
  type RunReport,
  type Tool,
} from '../../src/index.js';
import { AnthropicChatModel } from '../../src/models/anthropic/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { CARD, ChaosServer, type Behaviour } from './chaos-server.js';
import { invalidReason } from './conversation.js';
import { newInspector } from './inspected-turns.js';
import { problemsOfTurns } from './inspector-laws.js';
import { Random } from './random.js';
import { recordSpans } from './recorded-spans.js';

/** Conversations whose turns run at the same time: the end of a stall is waited for. */
const CONVERSATIONS = 50;
/** Least number of turns of a conversation, so that a short run does not begin all of them at once. */
const TURNS = 10;
/** Milliseconds after which a stall is given up: far more than an answer takes on a busy machine. */
const TIME_LIMIT = 5_000;
/** Limit of the compaction: a few turns of a conversation. */
const MAX_TOKENS = 2_000;
const SCHEMA = z.object({ answer_of_turn: z.number() });

/** The end of a turn. */
interface TurnEnd {
  readonly turn: number;
  readonly error?: unknown;
  readonly report: RunReport | undefined;
}

/** Counts of a chaos run, for its report. */
export interface ChaosCounts {
  readonly answers: number;
  readonly errors: Readonly<Record<string, number>>;
  /** Events of advisors, by name. */
  readonly events: Readonly<Record<string, number>>;
  readonly behaviours: Readonly<Partial<Record<Behaviour, number>>>;
  /** Turns with an answer that timed out, whose ledger was not checked. */
  readonly timedOut: number;
}

/** Random turns through a full chain against a server that fails at random. */
export class Chaos {
  private readonly recording = recordSpans();
  private readonly repository = new InMemoryChatMemoryRepository();
  /** Runs of tools with effects: `call-id key`. */
  private readonly effects: string[] = [];
  /** Number of events of advisors, by name. */
  private readonly events: Record<string, number> = {};
  /** Number of turns with a request that timed out without a stall. */
  private timedOut = 0;
  private readonly inspector = newInspector({ maxTurns: 20, maxBytes: 1_000_000 });
  private readonly advisors: readonly Advisor[];
  private readonly tools: readonly Tool[];

  private constructor(
    private readonly seed: number,
    private readonly server: ChaosServer,
  ) {
    this.tools = this.makeTools();
    this.advisors = this.makeAdvisors();
  }

  /** Runs turns and checks what they leave. */
  static async run(seed: number, turns: number): Promise<ChaosCounts> {
    const server = await ChaosServer.start(seed);
    try {
      return await new Chaos(seed, server).run(turns);
    } finally {
      await server.close();
    }
  }

  private async run(turns: number): Promise<ChaosCounts> {
    const ends: TurnEnd[] = [];
    const length = Math.min(CONVERSATIONS, Math.ceil(turns / TURNS));
    const conversations = Array.from({ length }, (_, first) => first);
    await Promise.all(
      conversations.map(async (first) => {
        for (let turn = first; turn < turns; turn += conversations.length)
          ends.push(await this.runTurn(turn, `c${first}`));
      }),
    );
    for (const end of ends) this.checkTurn(end);
    for (const first of conversations) await this.checkMemory(`c${first}`);
    expect(ends.length, 'ends').to.equal(turns);
    expect(this.timedOut, 'turns without a check of their ledger').to.be.below(turns / 2);
    expect(new Set(this.effects).size, 'effects that happened once').to.equal(this.effects.length);
    expect(this.events, 'events').to.include.keys('guard', 'compaction', 'result-offloaded');
    expect(this.recording.problems, 'spans').to.deep.equal([]);
    expect(await problemsOfTurns(this.inspector), 'inspector').to.deep.equal([]);
    return this.count(ends);
  }

  private async runTurn(turn: number, conversation: string): Promise<TurnEnd> {
    let report: RunReport | undefined;
    const watcher = defineAdvisor({
      name: 'watcher',
      order: 0,
      before: ({ run }) => void (report = run),
      onEvent: (event) => {
        if (event.type === 'custom') this.events[event.name] = (this.events[event.name] ?? 0) + 1;
      },
    });
    const model = new OpenAIChatModel({
      model: 'main',
      apiKey: 'k',
      baseURL: `${this.server.root}/v1`,
    });
    const random = new Random(this.seed + turn);
    const spec = ChatClient.create(model)
      .prompt(`turn ${turn}: continue, please.`)
      .tools(...this.tools)
      .advisors(watcher, ...this.advisors)
      .advisors((a) => a.param(CONVERSATION_ID, conversation));
    try {
      const isStream = random.chance(0.5);
      if (random.chance(0.3)) await (isStream ? spec.stream() : spec.call()).entity(SCHEMA);
      else if (isStream) await expectConsistentEvents(spec.stream().events());
      else await spec.call().content();
      return { turn, report };
    } catch (error) {
      return { turn, error, report };
    } finally {
      await report?.settled;
    }
  }

  private makeTools(): readonly Tool[] {
    const input = z.object({ query: z.string(), n: z.number().optional() });
    const look = defineTool({
      name: 'look',
      description: 'Looks something up.',
      effect: 'read',
      input,
      execute: ({ n = 0 }) => {
        if (n % 5 === 0) throw new Error(`no entry ${n}`);
        return { entry: n, text: 'found '.repeat(n % 9) };
      },
    });
    const big = defineTool({
      name: 'big',
      description: 'Reads a big document.',
      effect: 'read',
      input,
      execute: ({ n = 0 }) => `line ${n}\n`.repeat(600),
    });
    const book = defineTool({
      name: 'book',
      description: 'Books a room.',
      effect: 'write',
      input,
      execute: ({ n = 0 }, { call, idempotencyKey }) => {
        this.effects.push(`${call.id} ${idempotencyKey}`);
        if (n % 4 === 0) throw new Error('broken after its effect');
        return 'booked';
      },
    });
    return [look, big, book];
  }

  private makeAdvisors(): readonly Advisor[] {
    const other = new AnthropicChatModel({
      model: 'other',
      apiKey: 'k',
      baseURL: this.server.root,
      maxTokens: 100,
    });
    const chatMemory = new MessageWindowChatMemory({
      repository: this.repository,
      maxMessages: 30,
    });
    const store = new InMemoryKeyValueStore();
    return [
      this.inspector,
      new ConversationLockAdvisor({ store }),
      new GuardAdvisor({ output: [{ rules: piiRule(), action: 'redact' }] }),
      new CompactionAdvisor({ maxTokens: MAX_TOKENS, offload: { store, over: 4_000 } }),
      new ToolLedgerAdvisor({ store }),
      new PromptCacheAdvisor(),
      new ObservabilityAdvisor({ tracer: this.recording.tracer }),
      new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }),
      new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
      new ToolCallingAdvisor({ maxIterations: 6 }),
      new StructuredOutputAdvisor(),
      new FallbackAdvisor({ models: [other], cooldown: 50 }),
      new RetryAdvisor({ maxRetries: 1, firstDelay: 1 }),
      new TimeoutAdvisor({ firstDelta: TIME_LIMIT, idle: TIME_LIMIT, iteration: 3 * TIME_LIMIT }),
      new BudgetAdvisor({ maxTokens: 6_000, maxModelCalls: 12 }),
    ];
  }

  /** Expects an answer or a typed error, a ledger that is exact, and valid requests. */
  private checkTurn({ turn, error, report }: TurnEnd): void {
    const where = `turn ${turn}, seed ${this.seed}`;
    if (error !== undefined) expect(AdvisorChainError.isInstance(error), where).to.equal(true);
    const ledger = report?.ledger ?? [];
    expect(
      ledger.map(({ outcome }) => outcome),
      where,
    ).to.not.include('pending');
    expect(invalidReason(report?.transcript ?? []), where).to.equal(undefined);
    const givenUp = ledger.filter(({ outcome }) => outcome === 'cancelled').length;
    // on a busy machine an answer may time out
    if (givenUp > (this.server.stalls.get(turn) ?? 0)) return void this.timedOut++;
    const charged = ledger.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0);
    expect(charged, `${where}: tokens in the ledger`).to.equal(this.server.tokens.get(turn) ?? 0);
  }

  private async checkMemory(conversation: string): Promise<void> {
    const { messages } = await this.repository.read(conversation);
    const stored = messages.map(({ message }) => message);
    expect(invalidReason(stored), `${conversation}, seed ${this.seed}`).to.equal(undefined);
    expect(JSON.stringify(stored), conversation).to.not.include(CARD);
  }

  private count(ends: readonly TurnEnd[]): ChaosCounts {
    const errors: Record<string, number> = {};
    for (const { error } of ends)
      if (error !== undefined) {
        const { code } = error as AdvisorChainError;
        errors[code] = (errors[code] ?? 0) + 1;
      }
    const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
    return {
      answers: ends.length - failed,
      errors,
      events: this.events,
      behaviours: this.server.behaviours,
      timedOut: this.timedOut,
    };
  }
}

/** Expects that the shown text equals the answer. */
async function expectConsistentEvents(events: AsyncIterable<ChatEvent>): Promise<void> {
  let shown = '';
  for await (const event of events) {
    if (event.type === 'text-delta') shown += event.text;
    expect(shown, 'text that is shown').to.not.include(CARD.slice(0, 9));
    if (event.type === 'retract') shown = '';
    if (event.type !== 'iteration' && event.type !== 'response') continue;
    expect(shown, `deltas of ${event.type}`).to.equal(event.response.text ?? '');
    shown = '';
  }
}
