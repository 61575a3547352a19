import { AdvisorOrder, type Advisor } from '../../src/core/advisor/advisor.js';
import { orderOf } from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { PLAIN_OBJECT, required } from '../../src/core/internal/options.js';
import { deferToProvider } from './searchable-tools.js';

/** Options of a {@link ProviderToolSearchAdvisor}. */
export interface ProviderToolSearchAdvisorOptions {
  /** Search tool in the format of the provider, such as `{ type: 'openrouter:tool_search' }`. */
  readonly searchTool: Readonly<Record<string, unknown>>;
  /** @default AdvisorOrder.TOOL_SEARCH */
  readonly order?: number | undefined;
}

const NAME = 'ProviderToolSearchAdvisor';
const RULES = { searchTool: required(PLAIN_OBJECT) };

/**
 * Uses the tool search of a provider: all tools are sent, those without `alwaysLoaded` with
 * `defer_loading`, and the provider shows the model the tools that its search finds. Providers
 * without tool search reject such requests; `ToolSearchAdvisor` works with all of them.
 */
export class ProviderToolSearchAdvisor implements Advisor {
  readonly name = 'provider-tool-search';
  readonly order: number;
  private readonly searchTool: Readonly<Record<string, unknown>>;
  /** @internal As they were given, for inspectors. */
  readonly options: ProviderToolSearchAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ProviderToolSearchAdvisorOptions) {
    this.options = options;
    this.order = orderOf(NAME, options, RULES, AdvisorOrder.TOOL_SEARCH);
    this.searchTool = options.searchTool;
  }

  before(request: ChatClientRequest): ChatClientRequest {
    const { toolChoice } = request.prompt.options;
    const requiredTool = typeof toolChoice === 'object' ? toolChoice.tool : undefined;
    const tools = deferToProvider(request.tools, requiredTool);
    if (!tools) return request;
    return request.withTools(tools).withOptions({ providerTools: [this.searchTool] });
  }
}
