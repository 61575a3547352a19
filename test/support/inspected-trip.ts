import { Observable } from 'rxjs';
import {
  BudgetAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  priceTable,
  RetryAdvisor,
  type Advisor,
  type ChatEvent,
  type Prompt,
} from '../../src/index.js';
import type { ModelRun } from '../../src/core/chat/chat-model.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';

const TOWNS = ['Ulm', 'Bonn', 'Kiel'];
const ANSWER = 'Sun in all three towns.';
const PRICE = priceTable({ scripted: { input: 0.25, cachedInput: 0.025, output: 2 } });

/** A client whose turn calls three tools, and whose model breaks off in its first answer. */
export interface Trip {
  /** Makes the client, with an inspector. */
  readonly clientOf: (inspector: Advisor) => ChatClient;
  /** Runs a turn; resolves with its answer. */
  readonly ask: (question?: string, conversation?: string) => Promise<string | null>;
  /** Ends the three tools. */
  readonly endTools: () => void;
  /** Breaks the first answer off. */
  readonly breakOff: () => void;
}

/** @param isAtOnce tools and the model wait for nothing */
export function tripClient({ isAtOnce = false }: { readonly isAtOnce?: boolean } = {}): Trip {
  const [tools, failure] = [new Gate(), new Gate()];
  if (isAtOnce) for (const gate of [tools, failure]) gate.open();
  let client: ChatClient | undefined;
  const weather = defineTool({
    name: 'weather',
    description: 'The weather in a town.',
    input: {
      type: 'object',
      properties: { town: { type: 'string' } },
      required: ['town'],
      additionalProperties: false,
    },
    execute: async (input) => {
      await tools.opened;
      return { ...(input as object), sky: 'sun', degrees: 24 };
    },
  });
  const clientOf = (inspector: Advisor): ChatClient => {
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = new MessageWindowChatMemory({ repository });
    client = ChatClient.builder(new BreakingModel(failure))
      .price(PRICE)
      .defaultSystem('You know the weather.')
      .defaultTools(weather)
      .defaultAdvisors(
        inspector,
        new BudgetAdvisor({ maxTokens: 20_000, maxCost: 0.01 }),
        new MessageChatMemoryAdvisor({ chatMemory }),
        tone(),
        new RetryAdvisor({ firstDelay: 0 }),
      )
      .build();
    return client;
  };
  const ask: Trip['ask'] = async (
    question = 'What is the weather in Ulm, Bonn and Kiel?',
    conversation = 'anna-7',
  ) => {
    const stream = client?.prompt(question).conversation(conversation).stream();
    return (await stream?.finalResponse())?.text ?? null;
  };
  return { clientOf, ask, endTools: () => tools.open(), breakOff: () => failure.open() };
}

function tone(): Advisor {
  return defineAdvisor({
    name: 'tone',
    order: 6_500,
    before: (request) =>
      request.withPrompt(
        request.prompt.augmentSystemMessage((text) => `${text} Answer in one line.`),
      ),
  });
}

class Gate {
  open = (): void => undefined;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

/** Breaks its first text off when a gate opens. */
class BreakingModel extends ScriptedChatModel {
  constructor(private readonly gate: Gate) {
    let hasFailed = false;
    super(({ messages }) => {
      if (messages.at(-1)?.role !== 'tool') return CALLS;
      const answer = hasFailed ? WHOLE : BROKEN;
      hasFailed = true;
      return answer;
    });
  }

  override stream(prompt: Prompt, run?: ModelRun): Observable<ChatEvent> {
    const source = super.stream(prompt, run);
    return new Observable((subscriber) =>
      source.subscribe({
        next: (event) => subscriber.next(event),
        complete: () => subscriber.complete(),
        error: (error) => void this.gate.opened.then(() => subscriber.error(error)),
      }),
    );
  }
}

const CALLS: ScriptedAnswer = {
  toolCalls: TOWNS.map((town) => ({ name: 'weather', arguments: { town } })),
  usage: { inputTokens: 210, outputTokens: 48, totalTokens: 258 },
};
const BROKEN: ScriptedAnswer = {
  text: 'Sun in',
  error: new ModelCallError('overloaded', { status: 503, retryable: true }),
};
const WHOLE: ScriptedAnswer = {
  text: ANSWER,
  delay: 5,
  usage: { inputTokens: 320, outputTokens: 9, totalTokens: 329, cachedInputTokens: 192 },
};
