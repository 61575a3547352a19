import type { ChatModel } from '../../src/core/chat/chat-model.js';
import {
  ChatClient,
  DurableAdvisor,
  InMemoryDurableEngine,
  type Advisor,
  type ChatClientResponse,
  type ChatEvent,
  type DurableAdvisorOptions,
  type DurableEngine,
  type DurableEntries,
  type PromptSpec,
  type Tool,
  type WaitOptions,
} from '../../src/index.js';
import type { JsonValue } from '../../src/core/internal/json.js';

/** The end of a process: nothing after it is recorded, and nothing that it starts has an effect. */
export class Killed extends Error {}

/** Place of a kill: before the step begins, while it runs, or after it has run and before it is recorded. */
export type KillPlace = 'before' | 'after';

/** An engine of a process that ends at a step; the turn continues with its entries. */
export class KilledEngine implements DurableEngine {
  readonly inner: InMemoryDurableEngine;
  /** Steps that ran in this process, by name. */
  readonly ran: string[] = [];
  isDead = false;
  onWait: ((name: string, options?: WaitOptions) => void) | undefined;

  /** @param kill undefined if the process does not end */
  constructor(
    entries: DurableEntries,
    private readonly kill?: { readonly at: number | string; readonly place: KillPlace },
  ) {
    this.inner = new InMemoryDurableEngine(entries);
  }

  get isReplaying(): boolean {
    return this.inner.isReplaying;
  }

  async step<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    this.check();
    const value = await this.inner.step(name, async () => {
      const at = this.ran.push(name) - 1;
      const isLast = this.kill?.at === at || this.kill?.at === name;
      if (isLast && this.kill?.place === 'before') this.end();
      this.check();
      const result = await run();
      if (isLast) this.end();
      this.check();
      return result;
    });
    this.check();
    return value;
  }

  sleep(name: string, milliseconds: number): Promise<void> {
    this.check();
    return this.inner.sleep(name, milliseconds);
  }

  waitFor(name: string, options?: WaitOptions): Promise<JsonValue | undefined> {
    this.check();
    this.onWait?.(name, options);
    return this.inner.waitFor(name, options);
  }

  private end(): never {
    this.isDead = true;
    throw new Killed('killed');
  }

  private check(): void {
    if (this.isDead) throw new Killed('killed');
  }
}

/** Parts of a client whose turns are durable. */
export interface DurableTurn {
  readonly model: ChatModel;
  readonly tools?: readonly Tool[];
  readonly advisors?: readonly Advisor[];
  readonly options?: Partial<DurableAdvisorOptions>;
  readonly spec?: (spec: PromptSpec) => PromptSpec;
}

/** A prompt whose turn is recorded by an engine. */
export function durableSpec(turn: DurableTurn, engine: DurableEngine | undefined): PromptSpec {
  const durable = engine ? [new DurableAdvisor({ ...turn.options, engine })] : [];
  const client = ChatClient.builder(turn.model)
    .defaultTools(...(turn.tools ?? []))
    .defaultAdvisors(...durable, ...(turn.advisors ?? []))
    .build();
  const spec = client.prompt('question').turnId('turn-1');
  return turn.spec?.(spec) ?? spec;
}

/** A finished run, and its events. */
export interface Finished {
  readonly response?: ChatClientResponse;
  readonly error?: unknown;
  readonly events: readonly ChatEvent[];
}

export async function finish(spec: PromptSpec, mode: 'call' | 'stream'): Promise<Finished> {
  const events: ChatEvent[] = [];
  try {
    if (mode === 'call') return { response: await spec.call().chatClientResponse(), events };
    const stream = spec.stream();
    for await (const event of stream.events() as AsyncIterable<ChatEvent>) events.push(event);
    return { response: await stream.finalResponse(), events };
  } catch (error) {
    return { error, events };
  }
}
