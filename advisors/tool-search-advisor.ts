import { AdvisorOrder } from '../src/advisor/advisor.js';
import type { Advisor, AdvisorChain, Next } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import { UNLOCKED_TOOLS } from '../src/advisor/run-tools.js';
import { textOf } from '../src/chat/message.js';
import type { RunRecord } from '../src/chat/run-record.js';
import { DurableRun } from '../src/durable/durable-run.js';
import { ledgerSince, replayLedger } from '../src/durable/ledger-codec.js';
import { InvalidArgumentError } from '../src/errors.js';
import { checkOption, FINITE } from '../src/internal/options.js';
import { SEARCH_TURN, type SearchTurn } from '../src/tool-search/search-turn.js';
import { ToolSearch } from '../src/tool-search/tool-search.js';
import {
  type CheckedSearchOptions,
  type ToolSearchOptions,
  checkSearchOptions,
} from '../src/tool-search/tool-index.js';

/** Options of a {@link ToolSearchAdvisor}. */
export interface ToolSearchAdvisorOptions extends ToolSearchOptions {
  /** Order in the chain; must be lower than that of the tool loop. @default AdvisorOrder.TOOL_SEARCH */
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

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ToolSearchAdvisorOptions) {
    this.options = checkSearchOptions(options);
    this.order = options.order ?? AdvisorOrder.TOOL_SEARCH;
    checkOption('ToolSearchAdvisor', 'order', this.order, FINITE);
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

  /** A step of a durable turn: when it runs again, it offers what it has offered before. */
  private async searchFirst(turn: SearchTurn, request: ChatClientRequest): Promise<void> {
    const query = textOf(request.prompt.userMessage?.content ?? '');
    const { signal, run } = request;
    const find = (): Promise<readonly string[]> =>
      turn.findFirst({ query, maxResults: this.options.maxResults, signal });
    turn.offerFirst(await recordedNames(run, find));
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
      'ToolSearchAdvisor: the order must be lower than that of the tool loop, so that it runs once per turn',
    );
}

/** Records the names that a search finds, and its embeddings, in a durable turn. */
async function recordedNames(
  run: RunRecord,
  find: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const durable = DurableRun.of(run);
  if (!durable) return find();
  const from = run.ledger.length;
  let isLive = false;
  const { names, calls } = await durable.step('tool search', async () => {
    isLive = true;
    return { names: [...(await find())], ...ledgerSince(run.ledger, from) };
  });
  if (!isLive) replayLedger(run, calls);
  return names;
}
