import {
  AdvisorContext,
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  DurableAdvisor,
  FallbackAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  ModelTimeoutError,
  RetryAdvisor,
  ToolError,
  toolResult,
  type Advisor,
  type DurableEngine,
  type DurableEntries,
  type PromptSpec,
  type Reconciled,
  type Tool,
  type ToolInvocation,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import type { Finished } from './durable.js';
import { LIBRARY, NAMES } from './durable-scene-advisors.js';
import { Random } from './random.js';
import { withoutDurations } from './turn.js';

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: 1 };
const TOOLS = ['read', 'picture', 'save', 'pay', 'fails', 'breaks', 'unknown'] as const;
const BUSY = { status: 503, retryable: true, partialText: 'Wel', usage: USAGE, retryAfter: 0 };

/** A random turn, and the world around it: a model, a memory and effects that survive its processes. */
export class Scene {
  readonly repository = new InMemoryChatMemoryRepository();
  /** Effects of the tool `pay`, by idempotency key. */
  readonly paid: string[] = [];
  private readonly answers: readonly ScriptedAnswer[];
  private readonly kinds: readonly number[];
  private readonly library: readonly (keyof typeof LIBRARY)[];
  private readonly world = { store: new InMemoryKeyValueStore() };
  private readonly memory: 'none' | 'outside' | 'with tools' | 'inside';

  constructor(readonly seed: number) {
    const random = new Random(seed * 7_919);
    const iterations = 1 + random.below(4);
    this.answers = [
      ...Array.from({ length: iterations }, (_, at) => answersOf(random, at)).flat(),
      { text: 'The end.', reasoning: 'Hm.', usage: USAGE, metadata: { signature: ['x', 1] } },
    ];
    this.kinds = [0, 1, 2, 3, 4].filter(() => random.chance(0.5));
    this.memory = random.pick(['none', 'outside', 'with tools', 'inside'] as const);
    this.library = NAMES.filter(() => random.chance(0.25));
  }

  /** The turn in a process; without an engine it is not durable. */
  spec(engine: DurableEngine | undefined, entries: DurableEntries = []): PromptSpec {
    const asked = entries.filter(([name]) => name.startsWith('model ')).length;
    const model = new ScriptedChatModel((_, index) => this.answers[asked + index] ?? 'Done.');
    const advisors = [...this.advisors(model), ...this.memoryAdvisors()];
    const durable =
      engine && new DurableAdvisor({ engine, reconcile: (call) => this.findOut(call) });
    return ChatClient.builder(model)
      .defaultSystem('Be brief.')
      .defaultTools(...this.tools())
      .defaultAdvisors(...advisors, ...(durable ? [durable] : []))
      .build()
      .prompt('Go.')
      .turnId(`turn-${this.seed}`)
      .advisors((a) => a.param(CONVERSATION_ID, 'c'));
  }

  private findOut({ context }: ToolInvocation): Reconciled {
    return this.paid.includes(context.idempotencyKey)
      ? { content: 'Paid.', value: 'Paid.' }
      : 'not-run';
  }

  private tools(): readonly Tool[] {
    const picture = {
      type: 'image',
      data: new Uint8Array([1, 2, 255]),
      mediaType: 'image/png',
    } as const;
    const pay = (_: unknown, { idempotencyKey }: { readonly idempotencyKey: string }): string => {
      this.paid.push(idempotencyKey);
      return 'Paid.';
    };
    const fail = (error: Error) => (): never => {
      throw error;
    };
    return [
      defineTool({ name: 'read', effect: 'read', execute: () => ({ found: [1, { two: null }] }) }),
      defineTool({
        name: 'picture',
        effect: 'read',
        execute: () => toolResult({ content: [picture] }),
      }),
      defineTool({ name: 'save', effect: 'idempotent', execute: () => 'Saved. '.repeat(400) }),
      defineTool({ name: 'pay', effect: 'write', execute: pay }),
      defineTool({ name: 'fails', effect: 'read', execute: fail(new ToolError('Not there.')) }),
      defineTool({ name: 'breaks', effect: 'read', execute: fail(new RangeError('secret')) }),
    ];
  }

  private advisors(model: ScriptedChatModel): readonly Advisor[] {
    const note = { role: 'user', content: 'A note.' } as const;
    const all: readonly Advisor[] = [
      new RetryAdvisor({ firstDelay: 0, maxRetries: 3 }),
      new FallbackAdvisor({ models: [model] }),
      defineAdvisor({
        name: 'notes',
        order: AdvisorOrder.COMPACTION,
        before: (request) =>
          request.prompt.messages.at(-1)?.role === 'tool'
            ? request.withTranscript((messages) => [...messages, note])
            : undefined,
      }),
      defineAdvisor({
        name: 'hint',
        order: AdvisorOrder.PROMPT_CACHE,
        before: (request) =>
          request.withPrompt(request.prompt.augmentSystemMessage((text) => `${text} Please.`)),
      }),
      defineAdvisor({ name: 'shout', order: AdvisorOrder.GUARD, after: (response) => response }),
    ];
    const own = this.kinds.map((kind) => all[kind] as Advisor);
    return [...own, ...this.library.map((name) => LIBRARY[name](this.world))];
  }

  private memoryAdvisors(): readonly Advisor[] {
    if (this.memory === 'none') return [];
    const chatMemory = new MessageWindowChatMemory({ repository: this.repository });
    return [
      new MessageChatMemoryAdvisor({
        chatMemory,
        storeToolMessages: this.memory === 'with tools',
        onIncomplete: this.seed % 2 === 0 ? 'keep-partial' : 'discard',
        ...(this.memory === 'inside' && { order: AdvisorOrder.TOOL_CALLING + 1 }),
      }),
    ];
  }
}

/** The answers of one iteration: failures may come before the one that asks for tools. */
function answersOf(random: Random, iteration: number): readonly ScriptedAnswer[] {
  const failures = Array.from({ length: random.chance(0.3) ? 1 + random.below(2) : 0 }, () => {
    const error = random.chance(0.5)
      ? new ModelCallError('busy', BUSY)
      : new ModelTimeoutError('slow', { ...BUSY, option: 'idle' });
    return { text: 'Wel', error };
  });
  const toolCalls = Array.from({ length: 1 + random.below(3) }, (_, at) => ({
    name: random.pick(TOOLS),
    id: `call_${iteration}_${at}`,
    arguments: { at: random.below(2) },
  }));
  return [...failures, { text: random.chance(0.5) ? 'Let me see.' : '', toolCalls, usage: USAGE }];
}

/** The events of a stream in order, of tools by their content: a batch is parallel. */
export function eventsOf({ events }: Finished): unknown {
  const left = { context: undefined, duration: undefined, run: undefined };
  const texts = events.map((event) =>
    JSON.stringify(plain({ ...withoutDurations(event), ...left })),
  );
  const isOfTools = (_: string, at: number): boolean =>
    ['tool-start', 'tool-result', 'custom'].includes(events[at]?.type ?? '');
  const others = texts.filter((text, at) => !isOfTools(text, at));
  return [...others, ...texts.filter(isOfTools).sort()];
}

/** Everything about a turn that a restart must not change. */
export async function reportOf({ response, error }: Finished, scene: Scene): Promise<unknown> {
  const run =
    response?.run ?? (error as { readonly run?: NonNullable<typeof response>['run'] }).run;
  const { messages } = await scene.repository.read('c');
  return plain({
    response: response && { ...response, run: undefined },
    error: error instanceof Error ? error : undefined,
    transcript: run?.transcript,
    usage: run?.usage,
    ledger: run?.ledger.map((call) => ({ ...call, isReplayed: undefined })),
    steps: run?.steps.map(({ index, response: answer, toolCalls }) => ({
      index,
      answer: { ...answer },
      toolCalls: toolCalls.map((call) => ({ ...call, duration: undefined })),
    })),
    stored: run?.stored,
    memory: messages,
    paid: scene.paid,
  });
}

/** Ids of results that are offloaded: random, but for a durable turn. */
const RESULT_ID = /[bcdfghjklmnpqrst]{20}/g;

/** Without undefined fields and classes; bytes and errors as texts. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (each instanceof AdvisorContext) return undefined; // has the run
    if (each instanceof Uint8Array) return `bytes ${each.join()}`;
    if (each instanceof Error) return `${each.constructor.name}: ${each.name}: ${each.message}`;
    return each;
  });
  return JSON.parse(text.replaceAll(RESULT_ID, 'id')) as unknown;
}
