import { AdvisorOrder } from '../src/advisor/advisor-order.js';
import type { Advisor, AdvisorChain } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import { describe } from '../src/chat/message.js';
import { InvalidArgumentError } from '../src/errors.js';
import type { Observable } from '../src/rxjs.js';
import { leftToProvider } from '../src/tool-search/searchable-tools.js';

/** Options of a {@link ProviderToolSearchAdvisor}. */
export interface ProviderToolSearchAdvisorOptions {
  /** The search tool of the provider, as its API wants it, such as `{ type: 'openrouter:tool_search' }`. */
  readonly searchTool: Readonly<Record<string, unknown>>;
  /** @default AdvisorOrder.TOOL_SEARCH */
  readonly order?: number | undefined;
}

/**
 * Leaves the search for tools to a provider that can do it: all tools are sent, those without `alwaysLoaded` with `defer_loading`, and
 * the provider shows the model what its search finds. Providers without it refuse such requests; `ToolSearchAdvisor` works with all.
 */
export class ProviderToolSearchAdvisor implements Advisor {
  readonly name = 'provider-tool-search';
  readonly order: number;
  private readonly searchTool: Readonly<Record<string, unknown>>;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor({ searchTool, order = AdvisorOrder.TOOL_SEARCH }: ProviderToolSearchAdvisorOptions) {
    if (typeof searchTool !== 'object' || searchTool === null || Array.isArray(searchTool))
      throw new InvalidArgumentError(`ProviderToolSearchAdvisor: searchTool must be a plain object, not ${describe(searchTool)}`);
    if (!Number.isFinite(order))
      throw new InvalidArgumentError(`ProviderToolSearchAdvisor: order must be a finite number, not ${describe(order)}`);
    this.order = order;
    this.searchTool = searchTool;
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    const { toolChoice } = request.prompt.options;
    const tools = leftToProvider(request.tools, typeof toolChoice === 'object' ? toolChoice.tool : undefined);
    return chain.next(tools ? request.withTools(tools).withOptions({ providerTools: [this.searchTool] }) : request);
  }
}
