import { AdvisorOrder } from '../src/advisor/advisor-order.js';
import type { Advisor, AdvisorChain } from '../src/advisor/advisor.js';
import { runAround, type Next } from '../src/advisor/around.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import { UNLOCKED_TOOLS } from '../src/advisor/tool-loop.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import { InvalidArgumentError } from '../src/errors.js';
import type { Observable } from '../src/rxjs.js';
import { SEARCH_TURN } from '../src/tool-search/search-turn.js';
import { checkSearchOptions, type CheckedSearchOptions, type ToolSearchOptions } from '../src/tool-search/tool-search-options.js';
import { ToolSearch, type HiddenTools, type StartedTurn } from '../src/tool-search/tool-search.js';

/** Options of a {@link ToolSearchAdvisor}. */
export interface ToolSearchAdvisorOptions extends ToolSearchOptions {
  /** Must be left of the tool loop. @default AdvisorOrder.TOOL_SEARCH */
  readonly order?: number | undefined;
}

/**
 * Hides the tools of a request behind a search: the model sees a search tool, and the tools that it has found. Tools with
 * `alwaysLoaded` stay in sight. What can be found and called are the tools of the request alone, whatever the index knows.
 */
export class ToolSearchAdvisor implements Advisor {
  readonly name = 'tool-search';
  readonly role = 'tool-search';
  readonly order: number;
  private readonly options: CheckedSearchOptions;
  private readonly search: ToolSearch;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(options: ToolSearchAdvisorOptions) {
    this.options = checkSearchOptions(options);
    this.order = options.order ?? AdvisorOrder.TOOL_SEARCH;
    if (!Number.isFinite(this.order))
      throw new InvalidArgumentError(`ToolSearchAdvisor: order must be a finite number, not ${String(this.order)}`);
    this.search = new ToolSearch(this.options);
  }

  /** Forgets a session at once, and what was found in it. A turn that is under way is not affected. */
  evictSession(session: string): Promise<void> {
    return this.search.evict(session);
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    checkPlace(this, chain);
    const tools = this.search.hide(request.tools);
    return tools
      ? runAround({ name: this.name, around: (asked, next) => this.turn(asked, next, tools) }, request, chain.next)
      : chain.next(request);
  }

  private async turn(request: ChatClientRequest, next: Next, tools: HiddenTools): Promise<ChatClientResponse> {
    const { context, prompt, unlocked } = request;
    const conversation = context.get(this.options.sessionKey);
    const turn = this.search.startTurn(tools, { conversation, messages: prompt.messages, unlocked });
    let after: readonly string[] | undefined;
    try {
      const response = await next(this.hide(request, tools, turn));
      after = response.context.get(UNLOCKED_TOOLS) ?? turn.known;
      return response.withContext(SEARCH_TURN, undefined);
    } finally {
      turn.end(after);
    }
  }

  private hide(request: ChatClientRequest, tools: HiddenTools, { known, search }: StartedTurn): ChatClientRequest {
    const { toolChoice } = request.prompt.options;
    const { systemMessageSuffix: suffix } = this.options;
    if (toolChoice === 'none') return request.with({ tools: tools.tools, unlocked: known });
    return request.with({
      prompt: request.prompt.augmentSystemMessage((text) => (text === '' ? suffix.trimStart() : text + suffix)),
      tools: tools.withSearch,
      // a model that must call a certain tool must have it
      unlocked: typeof toolChoice === 'object' ? [...known, toolChoice.tool] : known,
      context: request.context.with(SEARCH_TURN, search),
    });
  }
}

/** @throws {@link InvalidArgumentError} inside the tool loop, which would not know what was found */
function checkPlace(advisor: Advisor, { advisors }: AdvisorChain): void {
  const loop = advisors.findIndex(({ role }) => role === 'tool-loop');
  if (loop >= 0 && loop < advisors.indexOf(advisor))
    throw new InvalidArgumentError('ToolSearchAdvisor: the order must be lower than that of the tool loop, so that it runs once per turn');
}
