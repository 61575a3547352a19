import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type InspectedState,
  type Next,
} from '../../src/core/advisor/advisor.js';
import { orderOf } from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import { UNLOCKED_TOOLS } from '../../src/core/advisor/run-tools.js';
import { withModelCalls } from '../../src/core/chat/ledger-codec.js';
import { RunSlot } from '../../src/core/chat/context.js';
import { textOf } from '../../src/core/chat/message.js';
import type { StepCodec } from '../../src/core/chat/run-recorder.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { SEARCH_TURN, type SearchTurn } from './search-turn.js';
import { ToolSearch } from './tool-search.js';
import {
  SEARCH_RULES,
  withSearchDefaults,
  type CheckedSearchOptions,
  type ToolSearchOptions,
} from './tool-search-options.js';

/** Options of a {@link ToolSearchAdvisor}. */
export interface ToolSearchAdvisorOptions extends ToolSearchOptions {
  /** Order in the chain; must be lower than the tool loop's. @default AdvisorOrder.TOOL_SEARCH */
  readonly order?: number | undefined;
}

/**
 * Hides the tools of a request behind a search: the model gets a search tool and the tools that it
 * has found. Tools with `alwaysLoaded` stay visible. Only tools of the request can be found and
 * called, whatever the index contains.
 */
export class ToolSearchAdvisor implements Advisor {
  readonly name = 'tool-search';
  readonly role = 'tool-search';
  readonly order: number;
  private readonly options: CheckedSearchOptions;
  private readonly search: ToolSearch;
  private readonly turns = new RunSlot<SearchTurn>();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ToolSearchAdvisorOptions) {
    this.order = orderOf('ToolSearchAdvisor', options, SEARCH_RULES, AdvisorOrder.TOOL_SEARCH);
    this.options = withSearchDefaults(options);
    this.search = new ToolSearch(this.options);
  }

  /** Removes a session and what was found in it at once. A turn in progress is not affected. */
  evictSession(session: string): Promise<void> {
    return this.search.evict(session);
  }

  async around(
    request: ChatClientRequest,
    next: Next,
    chain: AdvisorChain,
  ): Promise<ChatClientResponse> {
    checkOrder(this, chain);
    const tools = this.search.hideTools(request.tools);
    if (!tools) return next(request);
    const { context, prompt, unlocked: before } = request;
    const conversation = context.get(this.options.sessionKey);
    const turn = this.search.startTurn(tools, conversation, prompt.messages, before, request);
    this.turns.set(request.run, turn);
    let unlocked: readonly string[] | undefined;
    try {
      const canSearch = prompt.options.toolChoice !== 'none';
      if (this.options.searchFirst && canSearch) await this.searchFirst(turn, request);
      const response = await next(this.requestOf(turn, request));
      unlocked = response.context.get(UNLOCKED_TOOLS) ?? turn.offered;
      return response.withContext(SEARCH_TURN, undefined);
    } finally {
      this.search.endTurn(turn, unlocked);
    }
  }

  /**
   * The number of `tools` that can be found, those that the conversation has `discovered`, and the
   * `searches` of the turn with their hits.
   */
  inspect(request: ChatClientRequest): InspectedState {
    const { run, context } = request;
    const turn = this.turns.get(run);
    const conversation = context.get(this.options.sessionKey);
    const discovered = conversation ? this.search.foundIn(conversation) : turn?.offered;
    const tools = turn?.tools.references.length;
    return inspectedState({ tools, discovered, searches: turn?.searches });
  }

  /** A step of a durable turn: a replay offers the same tools again. */
  private async searchFirst(turn: SearchTurn, request: ChatClientRequest): Promise<void> {
    const query = textOf(request.prompt.userMessage?.content ?? '');
    const { signal, run } = request;
    const find = (): Promise<readonly string[]> =>
      turn.findFirst({ query, maxResults: this.options.maxResults, signal });
    turn.offerFirst(await run.recorder.step('tool search', find, withModelCalls(run, FOUND)));
  }

  private requestOf(turn: SearchTurn, request: ChatClientRequest): ChatClientRequest {
    const { offered, tools } = turn;
    const { toolChoice } = request.prompt.options;
    const { systemMessageSuffix: suffix } = this.options;
    if (toolChoice === 'none') return request.with({ tools: tools.tools, unlocked: offered });
    return request.with({
      prompt: request.prompt.augmentSystemMessage((text) =>
        text === '' ? suffix.trimStart() : text + suffix,
      ),
      tools: tools.withSearch,
      // a tool that the model must call is offered from the start
      unlocked: typeof toolChoice === 'object' ? [...offered, toolChoice.tool] : offered,
      context: request.context.with(SEARCH_TURN, turn),
    });
  }
}

/** @throws {@link InvalidArgumentError} inside the tool loop, where unlocked tools have no effect */
function checkOrder(advisor: Advisor, { advisors }: AdvisorChain): void {
  const loop = advisors.findIndex(({ role }) => role === 'tool-loop');
  if (loop >= 0 && loop < advisors.indexOf(advisor))
    throw new InvalidArgumentError(
      'ToolSearchAdvisor: the order must be lower than the order of the tool loop, so that it runs once per turn',
    );
}

/** The names that a search has found. */
const FOUND: StepCodec<readonly string[]> = {
  encode: (names) => ({ names: [...names] }),
  decode: (recorded) => (recorded as { readonly names: readonly string[] }).names,
};
