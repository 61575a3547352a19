import { getEventListeners } from 'node:events';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  InMemoryChatMemoryRepository,
  LoggerAdvisor,
  ObservabilityAdvisor,
  type Advisor,
  type ChatEvent,
  type PromptSpec,
  type RunReport,
} from '../../src/index.js';
import type { Inspector } from '../../src/bridges/inspector/index.js';
import { assistant, shortTexts, user } from './conversation.js';
import { FaultPlan, type Fault } from './fault-plan.js';
import type { ReferenceTurn } from './fault-turns.js';
import { faulty, FaultyModel } from './faulty-parts.js';
import type { Mode } from './modes.js';
import { newInspector } from './inspected-turns.js';
import { KeptLog, recordMetrics } from './recorded-telemetry.js';
import { recordSpans } from './recorded-spans.js';

/** The end of a turn for its caller. */
export interface TurnEnd {
  readonly value?: unknown;
  readonly error?: unknown;
}

/** A client whose parts fail by plan, and all that its turns leave. */
export class FaultyTurn {
  readonly plan: FaultPlan;
  readonly repository = new InMemoryChatMemoryRepository();
  readonly effects: string[] = [];
  readonly events: ChatEvent[] = [];
  readonly recording = recordSpans();
  readonly log = new KeptLog();
  readonly model: FaultyModel;
  readonly inspector: Inspector;
  /** Report of the latest run that reached the chain. */
  report: RunReport | undefined;
  /** Number of ends that the caller was notified of. */
  ends = 0;
  private readonly advisors: readonly Advisor[];
  private readonly abort = new AbortController();

  constructor(
    readonly turn: ReferenceTurn,
    readonly mode: Mode,
    fault?: Fault,
  ) {
    this.plan = new FaultPlan(fault);
    this.model = new FaultyModel(this.plan, turn.script);
    this.inspector = newInspector({ redact: () => this.plan.perform('telemetry', () => '') });
    this.advisors = [this.watcher(), ...this.telemetry(), this.hooks(AdvisorOrder.GUARD)];
  }

  /** Messages of the conversation as short texts. */
  async stored(): Promise<readonly string[]> {
    const { messages, version } = await this.repository.read('c');
    const versions = messages.map((each) => each.version);
    if (versions.some((each, at) => each !== at + 1) || version !== versions.length)
      throw new Error(`the versions are not consecutive: ${versions.join(' ')}`);
    return shortTexts(messages.map(({ message }) => message));
  }

  get listeners(): number {
    return getEventListeners(this.abort.signal, 'abort').length;
  }

  /** Stores the turn before the one that fails. */
  async storeTurnBefore(): Promise<void> {
    await this.repository.append('c', [user('0?'), assistant('0!')]);
  }

  async run(text: string): Promise<TurnEnd> {
    try {
      const value = await this.answer(this.spec(text));
      return { value };
    } catch (error) {
      return { error };
    } finally {
      await this.report?.settled;
      // spans end after the promise of their turn
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private spec(text: string): PromptSpec {
    const spec = ChatClient.create(this.model)
      .prompt()
      .messages(Object.freeze(user(text)))
      .signal(this.abort.signal)
      .advisors(...this.advisors, this.hooks(AdvisorOrder.RESILIENCE));
    return this.turn.build(spec, this);
  }

  private async answer(spec: PromptSpec): Promise<unknown> {
    const schema = this.turn.schema?.(this.plan);
    if (this.mode === 'call') return schema ? spec.call().entity(schema) : spec.call().content();
    const result = spec.stream();
    if (schema) return result.entity(schema);
    return new Promise((resolve, reject) => {
      let text: unknown;
      result.events().subscribe({
        next: (event) => {
          if (event.type === 'response') ({ text } = event.response);
          this.plan.perform('listener', () => undefined);
        },
        error: (error) => (this.ends++, reject(error as Error)),
        complete: () => (this.ends++, resolve(text)),
      });
    });
  }

  private watcher(): Advisor {
    return defineAdvisor({
      name: 'watcher',
      order: 0,
      before: (request) => void (this.report = request.run),
      onEvent: (event) => void this.events.push(event),
    });
  }

  private telemetry(): readonly Advisor[] {
    const { plan, recording, log } = this;
    return [
      this.inspector,
      new ObservabilityAdvisor({
        tracer: faulty(plan, 'telemetry', recording.tracer),
        meter: faulty(plan, 'telemetry', recordMetrics().meter),
        attributes: () => plan.perform('telemetry', () => ({})),
      }),
      new LoggerAdvisor({ logger: faulty(plan, 'telemetry', log) }),
    ];
  }

  private hooks(order: number): Advisor {
    const { plan } = this;
    const visit = (): void => plan.perform('hook', () => undefined);
    return defineAdvisor({
      name: `hooks ${order}`,
      order,
      before: visit,
      after: visit,
      onEvent: visit,
      aroundTool: async (call, next) => plan.perform('hook', () => next(call)),
    });
  }
}
