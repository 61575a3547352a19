import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  CompactionAdvisor,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetryAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  SummarizingChatMemory,
  ToolCallingAdvisor,
  ToolCallingManager,
  type Advisor,
  type ChatEvent,
  type ChatResponse,
  type Message,
  type PromptSpec,
  type RunReport,
  type Tool,
} from '../../../src/index.js';
import { isSummary } from '../../../src/core/chat/summary-message.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import type { Inspector } from '../../../src/bridges/inspector/index.js';
import { inspectorOf } from '../inspector-laws.js';
import { decideAll, SECRET } from '../paused-turns.js';
import type { Stores } from '../sweep-stores.js';
import { TEXTS, type ConversationPlan, type ScriptedTurn } from './conversation-plan.js';
import { HostileModel, type AskedTurn } from './hostile-model.js';
import { LoggedStreams } from './logged-streams.js';

/** Everything that a turn has shown to its user. */
export interface TurnShown extends AskedTurn {
  /** The latest answer; undefined if the turn has failed, was cancelled, or rests. */
  answer: string | undefined;
  /** Text that a stream had shown before the turn ended early. */
  text: string;
  error: string | undefined;
  /** True if a message that was sent on the way has been delivered. */
  isSteered: boolean;
  isPaused: boolean;
  /** Number of the turns that had ended before it. */
  endedAt: number;
}

const CLEAN: ScriptedTurn = {
  end: 'answered',
  at: 0,
  mode: 'call',
  calls: [['look']],
  question: 'plain',
  answer: 'plain',
  result: 'plain',
};

/** The message that a user sends while a turn runs. */
export const steeredText = (number: number): string => `S${number}: by train.`;

/** A conversation of random turns, with a clean one at its end. */
export class Conversation {
  readonly shown: TurnShown[] = [];
  readonly hostile: HostileModel;
  readonly inspector: Inspector | undefined;
  readonly logged: LoggedStreams;
  private readonly client: ChatClient;
  private readonly inbox = new SteeringInbox();
  private readonly resting: (readonly [TurnShown, ChatResponse])[] = [];
  /** Fails at each third request. */
  private readonly summarizer = new ScriptedChatModel((_, request) =>
    request % 3 === 2 ? new Error('no summary') : 'They talked. \0 \ud83d',
  );
  private report: RunReport | undefined;
  private ended = 0;

  constructor(
    readonly plan: ConversationPlan,
    readonly stores: Stores,
  ) {
    this.hostile = new HostileModel(plan);
    this.logged = new LoggedStreams(plan.logged);
    this.inspector = inspectorOf(plan.inspection);
    this.client = ChatClient.builder(this.hostile.model)
      .defaultSystem('You help.')
      .defaultTools(this.tool('look', 'read'), this.tool('pay', 'write'))
      .defaultAdvisors(...this.advisors())
      .build();
  }

  /** Runs all turns, and returns those that have been shown. */
  async run(): Promise<readonly TurnShown[]> {
    for (const [number, script] of this.plan.turns.entries()) await this.runTurn(number, script);
    for (const [turn, response] of this.resting.splice(0))
      await this.resume(turn, response, 'allow');
    await this.runTurn(this.plan.turns.length, CLEAN);
    return this.shown;
  }

  /** The messages of the log, without summaries. */
  async log(): Promise<readonly Message[]> {
    const { messages } = await this.stores.repository.read(this.stores.conversation);
    return messages.map(({ message }) => message).filter((message) => !isSummary(message));
  }

  private async runTurn(number: number, script: ScriptedTurn): Promise<void> {
    const turn: TurnShown = {
      number,
      script,
      answer: undefined,
      text: '',
      error: undefined,
      isSteered: false,
      isPaused: false,
      endedAt: Infinity,
    };
    this.shown.push(turn);
    const question = `Q${number}${TEXTS[script.question]}`;
    const response = await this.attempt(turn, this.client.prompt(question));
    if (!response?.paused) return;
    turn.isPaused = true;
    if (script.end === 'abandoned') return;
    if (script.end === 'overtaken') return void this.resting.push([turn, response]);
    await this.resume(turn, response, script.end === 'denied' ? 'deny' : 'allow');
  }

  private async resume(turn: TurnShown, paused: ChatResponse, type: 'allow' | 'deny') {
    let response: ChatResponse | undefined = paused;
    while (response?.paused) {
      const { state } = response.paused;
      const spec: PromptSpec = this.client.resume(state, decideAll(response, { type }));
      response = await this.attempt(turn, spec);
    }
  }

  private async attempt(turn: TurnShown, spec: PromptSpec): Promise<ChatResponse | undefined> {
    const abort = new AbortController();
    this.hostile.begin(turn);
    const ready = spec
      .signal(abort.signal)
      .advisors((a) => a.param(CONVERSATION_ID, this.stores.conversation));
    this.hostile.onRequest = (at) => {
      if (turn.script.mode === 'call') this.disturb(turn, at, () => this.cancel(at, abort));
    };
    try {
      const response =
        turn.script.mode === 'call'
          ? await ready.call().chatResponse()
          : await this.stream(turn, ready, abort);
      if (response && !response.paused) this.end(turn, response);
      return response;
    } catch (error) {
      turn.error = String(error);
      return undefined;
    } finally {
      await this.settle();
    }
  }

  private end(turn: TurnShown, { text }: ChatResponse): void {
    turn.answer = text ?? '';
    turn.endedAt = this.ended++;
  }

  private stream(
    turn: TurnShown,
    spec: PromptSpec,
    abort: AbortController,
  ): Promise<ChatResponse | undefined> {
    let count = 0;
    let response: ChatResponse | undefined;
    const show = (event: ChatEvent, leave: () => void): void => {
      if (event.type === 'text-delta') turn.text += event.text;
      if (event.type === 'retract') turn.text = '';
      if (event.type === 'response') ({ response } = event);
      this.disturb(turn, count++, leave);
    };
    if (this.plan.logged !== 'none') return this.streamLogged(turn, spec, show);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        if (turn.script.end === 'cancelled') return this.cancel(count, abort);
        // the events of a synchronous model come before there is a subscription
        queueMicrotask(() => subscription.unsubscribe());
        resolve(response);
      };
      const subscription = spec
        .stream()
        .events()
        .subscribe({
          next: (event) => show(event, leave),
          error: reject,
          complete: () => resolve(response),
        });
    });
  }

  /** A reader that leaves a logged turn ends nothing but itself. */
  private async streamLogged(
    turn: TurnShown,
    spec: PromptSpec,
    show: (event: ChatEvent, leave: () => void) => void,
  ): Promise<ChatResponse | undefined> {
    const events = await this.logged.run(turn.number, spec, (event) => {
      let leaves = false;
      show(event, () => {
        if (turn.script.end === 'cancelled') this.logged.stop();
        else leaves = true;
      });
      return leaves;
    });
    const last = events.at(-1);
    return last?.type === 'response' ? last.response : undefined;
  }

  /** Ends a turn early, or steers it, at the event or request of its script. */
  private disturb(turn: TurnShown, at: number, leave: () => void): void {
    const { script, number } = turn;
    if (at !== script.at % (script.mode === 'call' ? script.calls.length + 1 : 13)) return;
    if (script.end === 'cancelled' || script.end === 'left') leave();
    if (script.end === 'steered' && !turn.isSteered)
      void this.inbox.send(steeredText(number)).then(({ status }) => {
        if (status === 'delivered') turn.isSteered = true;
        this.inbox.takeDeferred();
      });
  }

  /** Cancels a turn by its signal, or by the page of an inspector around it. */
  private cancel(at: number, abort: AbortController): void {
    const { inspector, plan } = this;
    const id = inspector?.turns().at(-1)?.id ?? '';
    const isByPage = at % 2 === 0 && plan.inspection?.order === 100;
    if (!isByPage || !inspector?.cancel(id)) abort.abort();
  }

  /** Waits for the writes and tools of a turn that has ended. */
  private async settle(): Promise<void> {
    for (let times = 0; times < 3; times++) await new Promise((resolve) => setImmediate(resolve));
    await this.report?.settled;
    for (let times = 0; times < 3; times++) await new Promise((resolve) => setImmediate(resolve));
  }

  private tool(name: string, effect: 'read' | 'write'): Tool {
    return defineTool({
      name,
      effect,
      input: { type: 'object', properties: { at: { type: 'string' } } },
      execute: ({ at }) => {
        const { script } = this.hostile.turn as AskedTurn;
        return `result of ${String(at)}${TEXTS[script.result]}`;
      },
    });
  }

  private advisors(): readonly Advisor[] {
    const { plan, stores, inbox } = this;
    const { repository } = stores;
    const maxMessages = plan.hasSmallWindow ? 4 : 1_000;
    const chatMemory = plan.summarizes
      ? new SummarizingChatMemory({ repository, model: this.summarizer, maxMessages: 4 })
      : new MessageWindowChatMemory({ repository, maxMessages });
    const watcher = defineAdvisor({
      name: 'watcher',
      order: 0,
      before: ({ run }) => void (this.report = run),
    });
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    return [
      watcher,
      ...(this.inspector ? [this.inspector] : []),
      new MessageChatMemoryAdvisor({
        chatMemory,
        storeToolMessages: plan.storesTools,
        onIncomplete: plan.keepsPartial ? 'keep-partial' : 'discard',
        ...(plan.isMemoryInside && { order: AdvisorOrder.TOOL_CALLING + 1 }),
      }),
      new ToolCallingAdvisor({
        manager: new ToolCallingManager({ maxResultLength: 300 }),
        ...(plan.isMemoryInside && { keepHistory: false }),
      }),
      new SteeringAdvisor({ inbox }),
      ...(plan.retries
        ? [new RetryAdvisor({ firstDelay: 0, maxRetries: 1, when: () => true })]
        : []),
      ...(plan.pauses ? [new ApprovalAdvisor({ pause })] : []),
      ...(plan.compaction ? [new CompactionAdvisor({ maxTokens: 1_500, keepIterations: 1 })] : []),
    ];
  }
}
