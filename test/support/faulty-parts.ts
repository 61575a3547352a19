import { defer, map, type Observable } from 'rxjs';
import type { ChatEvent, ChatModel, ChatOptions, ChatResponse, Message } from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import type { FaultPlan, Part } from './fault-plan.js';

/** An object whose methods are operations of a part, with the methods of returned objects. */
export function faulty<T extends object>(plan: FaultPlan, part: Part, target: T): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        const result: unknown = plan.perform(part, () => Reflect.apply(value, target, args));
        return isPart(result) ? faulty(plan, part, result) : result;
      };
    },
  });
}

/** True for spans and instruments. */
function isPart(value: unknown): value is object {
  return typeof value === 'object' && value !== null && ('end' in value || 'record' in value);
}

/** A scripted model each of whose requests and events is an operation. */
export class FaultyModel implements ChatModel {
  readonly defaultOptions: ChatOptions = { model: 'scripted' };
  private readonly model: ScriptedChatModel;

  /** @param script answers of each turn by the number of its iteration, so that an attempt may be repeated */
  constructor(
    private readonly plan: FaultPlan,
    public script: readonly ScriptedAnswer[],
  ) {
    this.model = new ScriptedChatModel(
      ({ messages }) => this.script[iterationOf(messages)] ?? 'no answer',
    );
  }

  /** Messages of the requests so far. */
  get requests(): readonly (readonly Message[])[] {
    return this.model.prompts.map(({ messages }) => messages);
  }

  async call(...args: Parameters<ChatModel['call']>): Promise<ChatResponse> {
    return this.plan.perform('model', () => this.model.call(...args));
  }

  stream(...args: Parameters<ChatModel['stream']>): Observable<ChatEvent> {
    const { plan } = this;
    return defer(() => plan.perform('model', () => this.model.stream(...args))).pipe(
      map((event) => plan.perform('model', () => event)),
    );
  }
}

function iterationOf(messages: readonly Message[]): number {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(start).filter(({ role }) => role === 'assistant').length;
}
