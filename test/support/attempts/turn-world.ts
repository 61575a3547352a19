import { defer, Observable } from 'rxjs';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  BudgetAdvisor,
  ChatClient,
  CONVERSATION_ID,
  ConversationLockAdvisor,
  defineTool,
  DurableAdvisor,
  GuardAdvisor,
  KeyValueError,
  MemoryWriteError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  RetryAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  textOf,
  ToolLedgerAdvisor,
  wordRule,
  type Advisor,
  type ChatEvent,
  type ChatModel,
  type DurableEngine,
  type KeyValueStore,
  type Message,
  type Prompt,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { SERVER_OF } from '../key-value-stores.js';
import { SECRET } from '../paused-turns.js';
import { prefixed, type Stores } from '../sweep-stores.js';
import type { ErrorOf, Operations, Part, Way } from './operations.js';
import type { ToolName, TurnPlan } from './turn-plan.js';

/** A word that the guard removes from answers. */
export const REMOVED = 'Geheim';
/** A message that the user sends while the turn runs. */
export const STEERED = 'And by train.';
/**
 * Milliseconds: an attempt waits for the lease of one before it, whose release has failed. A server ends it by its own
 * clock, so it is longer there than a busy machine keeps this process from renewing it.
 */
const LEASE = 200;
const LEASE_OF_SERVER = 4_000;
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const EFFECTS = { look: 'read', save: 'idempotent', pay: 'write' } as const;

/** Everything around a turn that its attempts share: stores, other systems, the user. */
export class TurnWorld {
  /** Keys of the runs of a call, by its tool and arguments. */
  readonly effects = new Map<string, readonly string[]>();
  /** Prompts that the model got, also in later turns. */
  readonly prompts: Prompt[] = [];
  readonly counts = { modelCalls: 0, tokens: 0 };
  readonly inbox = new SteeringInbox();
  /** True while a message is part of the turn, or on its way. */
  isSteered = false;
  private readonly parts = new Map<Part, KeyValueStore>();
  private answers = 0;

  constructor(
    readonly plan: TurnPlan,
    readonly operations: Operations,
    readonly stores: Stores,
    private readonly inspector?: Advisor,
  ) {}

  /** A client in a process of its own. */
  client(engine?: DurableEngine): ChatClient {
    return ChatClient.builder(this.model())
      .defaultSystem('You work.')
      .defaultTools(this.tool('look'), this.tool('save'), this.tool('pay'))
      .defaultAdvisors(...this.advisors(engine))
      .build();
  }

  /** A prompt of the conversation. */
  asked(client: ChatClient, question: string, turnId: string): PromptSpec {
    return this.inConversation(client.prompt(question).turnId(turnId));
  }

  inConversation(spec: PromptSpec): PromptSpec {
    return spec.advisors((a) => a.param(CONVERSATION_ID, this.stores.conversation));
  }

  private advisors(engine: DurableEngine | undefined): readonly Advisor[] {
    const { plan, inbox } = this;
    const lease = SERVER_OF[plan.store] ? LEASE_OF_SERVER : LEASE;
    const pause = { secrets: SECRET, store: this.states('used states'), lease };
    return [
      this.memory(),
      ...(plan.ledger ? [new ToolLedgerAdvisor({ store: this.states('ledger'), lease })] : []),
      ...(plan.lock ? [this.lock()] : []),
      ...(plan.budget ? [this.budget()] : []),
      ...(plan.guard ? [guard()] : []),
      ...(plan.steering ? [new SteeringAdvisor({ inbox })] : []),
      ...(plan.retry ? [new RetryAdvisor({ firstDelay: 0, maxRetries: 1 })] : []),
      ...(plan.kind === 'paused' ? [new ApprovalAdvisor({ pause })] : []),
      ...(engine ? [new DurableAdvisor({ engine })] : []),
      ...(this.inspector ? [this.inspector] : []),
    ];
  }

  private memory(): Advisor {
    const { plan, operations, stores } = this;
    const repository = operations.of('memory', stores.repository, memoryErrors);
    return new MessageChatMemoryAdvisor({
      chatMemory: new MessageWindowChatMemory({ repository, maxMessages: 200 }),
      storeToolMessages: plan.storesTools,
      onIncomplete: plan.keepsPartial ? 'keep-partial' : 'discard',
      ...(plan.isMemoryInside && { order: AdvisorOrder.TOOL_CALLING + 1 }),
    });
  }

  private lock(): Advisor {
    return new ConversationLockAdvisor({
      store: this.states('lock'),
      lease: 4_000,
      waitTimeout: 20_000,
    });
  }

  private budget(): Advisor {
    const shared = [
      { name: 'all', key: () => 'all', maxTokens: 1e9, maxModelCalls: 1e9, maxToolCalls: 1e9 },
    ];
    return new BudgetAdvisor({ shared, store: this.states('budget') });
  }

  /** One object for each part: a process knows the leases that it has in a store. */
  private states(part: Part): KeyValueStore {
    const known = this.parts.get(part);
    if (known) return known;
    const own = prefixed(this.stores.states, `${part} `);
    const states = this.operations.of(part, own, keyValueErrors);
    this.parts.set(part, states);
    return states;
  }

  private tool(name: ToolName): Tool {
    return defineTool({
      name,
      effect: EFFECTS[name],
      input: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
      execute: ({ at }, { idempotencyKey }) =>
        this.operations.perform('tool', name, async () => {
          const effect = `${name} ${String(at)}`;
          this.effects.set(effect, [...(this.effects.get(effect) ?? []), idempotencyKey]);
          return resultOf(name, String(at));
        }),
    });
  }

  private model(): ChatModel {
    const scripted = new ScriptedChatModel((prompt) => this.answer(prompt));
    const { operations } = this;
    return {
      defaultOptions: scripted.defaultOptions,
      call: (prompt, run) =>
        this.ask(() =>
          operations.perform(
            'model',
            'call',
            () => this.begin(() => scripted.call(prompt, run), prompt),
            modelError,
          ),
        ),
      stream: (prompt, run) =>
        defer(() => this.ask(() => this.streamed(() => scripted.stream(prompt, run), prompt))),
    };
  }

  private streamed(stream: () => Observable<ChatEvent>, prompt: Prompt): Observable<ChatEvent> {
    const way = this.operations.next('model', 'stream');
    if (way === 'before') throw modelError(way);
    const events = this.begin(stream, prompt);
    return disturbed(events, way, () => this.operations.cancel());
  }

  private ask<T>(call: () => T): T {
    this.counts.modelCalls++;
    return call();
  }

  private begin<T>(ask: () => T, prompt: Prompt): T {
    this.counts.tokens += USAGE.totalTokens;
    this.prompts.push(prompt);
    this.steer(prompt);
    return ask();
  }

  /** Sends a message in the first iteration of the turn, until one is part of it. */
  private steer({ messages }: Prompt): void {
    if (!this.plan.steering || !this.operations.isActive || this.isSteered) return;
    if (turnOf(messages).some((each) => each.role === 'user' && each.content === STEERED)) return;
    this.isSteered = true;
    void this.inbox.send(STEERED).then(({ status }) => {
      if (status !== 'delivered') this.isSteered = false;
    });
  }

  private answer({ messages }: Prompt): ScriptedAnswer {
    const { plan, operations } = this;
    const turn = turnOf(messages);
    const question = String((turn[0] as { readonly content?: unknown } | undefined)?.content);
    const iteration = turn.filter(({ role }) => role === 'assistant').length;
    const names = operations.isActive ? (plan.calls[iteration] ?? []) : [];
    if (names.length === 0) {
      const secret = plan.guard ? ` ${REMOVED}` : '';
      return { text: `Answer to ${question}${secret}`, usage: USAGE };
    }
    const id = { same: `c${question}-${iteration}`, fresh: `f${this.answers++}`, repeated: 'call' };
    return {
      text: `Step ${iteration} of ${question}`,
      usage: USAGE,
      toolCalls: names.map((name, at) => ({
        name,
        id: `${id[plan.ids]}_${at}`,
        arguments: { at: `${question}/${iteration}.${at}` },
      })),
    };
  }
}

/** The result of a call that has had its effect. */
export const resultOf = (name: string, at: string): string => `result of ${name} ${at}`;

/** The messages since the latest question. */
function turnOf(messages: readonly Message[]): readonly Message[] {
  const at = messages.findLastIndex(
    (each) => each.role === 'user' && textOf(each.content).startsWith('Q'),
  );
  return messages.slice(Math.max(at, 0));
}

function guard(): Advisor {
  return new GuardAdvisor({
    output: [{ rules: wordRule({ words: [REMOVED] }), action: 'redact' }],
  });
}

const memoryErrors =
  (operation: string, [id]: readonly unknown[]): ErrorOf =>
  (way) => {
    const cause = new Error('ECONNRESET');
    if (operation === 'read') return cause;
    const outcome = way === 'before' ? 'not-stored' : 'unknown';
    return new MemoryWriteError(String(id), { outcome, cause });
  };

const keyValueErrors =
  (operation: string, [key]: readonly unknown[]): ErrorOf =>
  (way) =>
    new KeyValueError({
      operation: operation as 'get',
      key: String(key),
      outcome: way === 'before' ? 'unchanged' : 'unknown',
      cause: new Error('ECONNRESET'),
    });

/** Before the effect no token was spent; afterwards a part of the answer has come. */
const modelError: ErrorOf = (way) =>
  new ModelCallError('the model is down', {
    status: 503,
    retryable: true,
    ...(way === 'after' && { partialText: 'Part', usage: USAGE }),
  });

/** The events of an answer, cut off before its end, or cancelled at the first one. */
function disturbed(
  events: Observable<ChatEvent>,
  way: Way | undefined,
  cancel: () => void,
): Observable<ChatEvent> {
  if (way === undefined) return events;
  return new Observable((subscriber) =>
    events.subscribe({
      next: (event) => {
        if (way === 'after' && event.type === 'response') return subscriber.error(modelError(way));
        subscriber.next(event);
        if (way === 'cancel') cancel();
      },
      error: (error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  );
}
