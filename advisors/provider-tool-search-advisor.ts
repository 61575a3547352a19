import { AdvisorOrder, type Advisor } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import { checkOption, FINITE, PLAIN_OBJECT } from '../src/internal/options.js';
import { deferToProvider } from '../src/tool-search/searchable-tools.js';

/** Options of a {@link ProviderToolSearchAdvisor}. */
export interface ProviderToolSearchAdvisorOptions {
  /** Search tool in the format of the provider, such as `{ type: 'openrouter:tool_search' }`. */
  readonly searchTool: Readonly<Record<string, unknown>>;
  /** @default AdvisorOrder.TOOL_SEARCH */
  readonly order?: number | undefined;
}

/**
 * Uses the tool search of a provider: all tools are sent, those without `alwaysLoaded` with
 * `defer_loading`, and the provider shows the model the tools that its search finds. Providers
 * without tool search reject such requests; `ToolSearchAdvisor` works with all of them.
 */
export class ProviderToolSearchAdvisor implements Advisor {
  readonly name = 'provider-tool-search';
  readonly order: number;
  private readonly searchTool: Readonly<Record<string, unknown>>;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor({ searchTool, order = AdvisorOrder.TOOL_SEARCH }: ProviderToolSearchAdvisorOptions) {
    checkOption('ProviderToolSearchAdvisor', 'searchTool', searchTool, PLAIN_OBJECT);
    checkOption('ProviderToolSearchAdvisor', 'order', order, FINITE);
    this.order = order;
    this.searchTool = searchTool;
  }

  before(request: ChatClientRequest): ChatClientRequest {
    const { toolChoice } = request.prompt.options;
    const requiredTool = typeof toolChoice === 'object' ? toolChoice.tool : undefined;
    const tools = deferToProvider(request.tools, requiredTool);
    if (!tools) return request;
    return request.withTools(tools).withOptions({ providerTools: [this.searchTool] });
  }
}
