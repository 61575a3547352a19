import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  textOf,
  type Advisor,
  type ChatClientResponse,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { inConversation } from './memory-advisor.js';
import { runSpec, type Mode } from './modes.js';
import { deferred } from './promises.js';

/** Turns that stop in the middle until the test opens their gates, and their effects. */
export class GatedTurns {
  /** `a starts` and `a ends` for each turn that asks `a`. */
  readonly log: string[] = [];
  readonly model = new ScriptedChatModel(({ userMessage }) => {
    return `${textOf(userMessage?.content ?? '')}!`;
  });
  private readonly gates = new Map<string, Gate>();
  private readonly begun = new Map<string, Gate>();

  /** A client whose turns stop before the model. */
  client(...advisors: readonly Advisor[]): ChatClient {
    const gate = defineAdvisor({
      name: 'gate',
      order: AdvisorOrder.TOOL_CALLING + 100,
      around: async (request, next) => {
        const name = textOf(request.prompt.userMessage?.content ?? '');
        this.log.push(`${name} starts`);
        this.of(this.begun, name).resolve();
        const stopped = deferred<void>();
        request.cancellation.onCancel(() => stopped.resolve());
        await Promise.race([this.of(this.gates, name).promise, stopped.promise]);
        this.log.push(`${name} ends`);
        return next(request);
      },
    });
    return ChatClient.builder(this.model)
      .defaultAdvisors(gate, ...advisors)
      .build();
  }

  /** Starts a turn of a conversation. */
  ask(
    client: ChatClient,
    name: string,
    { mode = 'call', id = 'c', signal }: Partial<Asked> = {},
  ): Promise<ChatClientResponse> {
    const prompt = signal ? client.prompt(name).signal(signal) : client.prompt(name);
    const turn = runSpec(mode, id === '' ? prompt : inConversation(prompt, id));
    turn.catch(() => undefined); // tests await it later
    return turn;
  }

  /** Resolves when a turn has reached its gate. */
  started(name: string): Promise<void> {
    return this.of(this.begun, name).promise;
  }

  /** Lets turns pass their gates, now or when they reach them. */
  open(...names: readonly string[]): void {
    for (const name of names) this.of(this.gates, name).resolve();
  }

  private of(all: Map<string, Gate>, name: string): Gate {
    const found = all.get(name) ?? deferred<void>();
    all.set(name, found);
    return found;
  }
}

type Gate = ReturnType<typeof deferred<void>>;

interface Asked {
  readonly mode: Mode;
  /** The conversation; none if it is empty. */
  readonly id: string;
  readonly signal: AbortSignal;
}
