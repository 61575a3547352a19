import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { PendingRequest } from '../../src/core/chat/paused-turn.js';
import { PausedStateError } from '../../src/core/errors/errors.js';
import { checkOption, TEXT } from '../../src/core/internal/options.js';
import type { DurableEntries } from '../../src/engines/in-memory-engine.js';
import type { DecisionContext, ScopeOfOwner } from './person.js';
import type { KeptPlace } from './kept-states.js';
import type { TurnState } from './turn-state.js';

type OwnedRequest = Pick<ChatClientRequest, 'toolContext' | 'context' | 'signal'>;

/** The client and the owner that may resume a turn, and the tools that it needs. */
export class Audience {
  /** @param client name of the advisor that pauses turns */
  constructor(
    private readonly client: string,
    private readonly where: string,
    private readonly scope?: ScopeOfOwner,
  ) {}

  /** The audience of the state of a turn. */
  of(
    request: ChatClientRequest,
    steps: DurableEntries,
    requests: readonly PendingRequest[],
  ): Pick<TurnState, 'client' | 'owner' | 'tools'> {
    const names = request.tools.map(({ definition }) => definition.name);
    const isCalled = (tool: string): boolean =>
      steps.some(([name]) => name.startsWith(`tool ${tool} `)) ||
      requests.some(({ agents, toolName }) => (agents?.[0] ?? toolName) === tool);
    return { client: this.client, owner: this.ownerOf(request), tools: names.filter(isCalled) };
  }

  /** The place of turns of this client in a conversation, or in any. */
  placeOf<C extends string | undefined>(
    request: OwnedRequest,
    conversationId: C,
  ): Pick<KeptPlace, 'client' | 'owner'> & { readonly conversationId: C } {
    return { client: this.client, owner: this.ownerOf(request), conversationId };
  }

  /** @throws {@link PausedStateError} `client`, `owner` or `tool-missing` */
  check({ client, owner, tools = [] }: TurnState, request: ChatClientRequest): void {
    if (client !== undefined && client !== this.client)
      throw new PausedStateError(
        `The state belongs to another client: the advisor "${client}" has paused its turn, not "${this.client}".`,
        'client',
      );
    if (owner !== undefined && owner !== this.ownerOf(request))
      throw new PausedStateError(
        'The state belongs to another owner than the request; give it the tool context, or the values, from which scope reads the owner.',
        'owner',
      );
    const missing = tools.find(
      (name) => !request.tools.some(({ definition }) => definition.name === name),
    );
    if (missing !== undefined)
      throw new PausedStateError(
        `The turn calls the tool "${missing}", which the request does not have; add it with tools(…).`,
        'tool-missing',
      );
  }

  private ownerOf({ toolContext, context, signal }: OwnedRequest): string | undefined {
    const get: DecisionContext['get'] = ({ name, defaultValue }) =>
      Object.hasOwn(toolContext, name) ? (toolContext[name] as typeof defaultValue) : defaultValue;
    const of = { values: toolContext, advisorContext: context, signal, get };
    const owner = this.scope?.({ context: of });
    if (owner !== undefined) checkOption(this.where, 'the result of scope', owner, TEXT);
    return owner;
  }
}
