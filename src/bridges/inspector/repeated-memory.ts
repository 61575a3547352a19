import type { Advisor } from '../../core/advisor/advisor.js';
import { CONVERSATION_ID, randomId } from '../../core/chat/context.js';
import type { Message } from '../../core/chat/message.js';
import type { PromptSpec } from '../../core/client/chat-client.js';
import { hasMethods } from '../../core/internal/options.js';
import type { ObservedRequest } from '../../core/observation/observation.js';
import type {
  ChatMemory,
  LoadOptions,
  MemorySnapshot,
  RunningTurn,
} from '../../stores/chat-memory/chat-memory.js';
import { rebuilt, withAdvisors } from './changed-advisors.js';
import type { LiveTurn } from './inspected-source.js';

/**
 * The spec of a turn that is repeated in its conversation. Its memory reads the history that the first
 * turn had, whatever the conversation has got since, and stores nothing: the two turns can be compared,
 * and the conversation does not have one of them twice. A memory of another kind, which this cannot be
 * done for, gets a new conversation. What else advisors and tools store, they store again.
 */
export function withRepeatedMemory(spec: PromptSpec, live: LiveTurn): PromptSpec {
  const history = historyOf(live);
  let isForeign = false;
  const repeated = withAdvisors(spec, (advisor) => {
    if (advisor.role !== 'chat-memory') return advisor;
    const memory = memoryOf(advisor);
    isForeign ||= memory === undefined;
    return memory ? rebuilt(advisor, { chatMemory: new RepeatedMemory(memory, history) }) : advisor;
  });
  return isForeign ? inNewConversation(repeated) : repeated;
}

/** The spec in a conversation that no other turn has. */
export function inNewConversation(spec: PromptSpec): PromptSpec {
  return spec.advisors((a) => a.param(CONVERSATION_ID, `inspector-${randomId().slice(0, 12)}`));
}

function memoryOf(advisor: Advisor): ChatMemory | undefined {
  const { options } = advisor as { readonly options?: { readonly chatMemory?: unknown } };
  const memory = options?.chatMemory;
  return hasMethods(memory, ['load', 'add']) ? (memory as ChatMemory) : undefined;
}

/** The messages that the memory added to the first request; undefined if no model got one. */
function historyOf({ sent }: LiveTurn): readonly Message[] | undefined {
  const passed = new Set<ObservedRequest>(); // an advisor may pass an earlier request on again
  for (let at = sent; at?.origin && !passed.has(at); at = at.origin.received) {
    const { advisor, received } = at.origin;
    if (advisor.role === 'chat-memory')
      return at.prompt.messages.filter((message) => !received.prompt.messages.includes(message));
    passed.add(at);
  }
  return sent && [];
}

/** The memory of a repeated turn: it changes nothing. */
class RepeatedMemory implements ChatMemory {
  constructor(
    private readonly memory: ChatMemory,
    private readonly history: readonly Message[] | undefined,
  ) {}

  get capabilities(): ChatMemory['capabilities'] {
    return this.memory.capabilities;
  }

  async load(
    conversationId: string,
    running?: RunningTurn,
    options?: LoadOptions,
  ): Promise<MemorySnapshot> {
    if (!this.history) return this.memory.load(conversationId, running, options);
    return { messages: [...this.history, ...(running?.messages ?? [])], version: 0 };
  }

  async get(conversationId: string): Promise<readonly Message[]> {
    return (await this.load(conversationId)).messages;
  }

  async add(): Promise<number> {
    return 0;
  }

  async clear(): Promise<void> {
    // there is nothing of its own
  }
}
