import { AdvisorOrder, type Advisor } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import {
  checkChatOptions,
  mergeOptions,
  withoutDefaults,
  type ChatOptions,
} from '../src/core/chat/chat-options.js';
import { CHECKED_APART, TEXT } from '../src/core/internal/options.js';

/** Options of a model call that a {@link DefaultsAdvisor} can set. */
export type DefaultOptions = Omit<ChatOptions, 'tools' | 'toolContext' | 'model'>;

/** Options of a {@link DefaultsAdvisor}. */
export interface DefaultsAdvisorOptions extends AdvisorPlace {
  /** Options for requests that do not set them, or a function of the request. @default none */
  readonly options?:
    DefaultOptions | ((request: ChatClientRequest) => DefaultOptions | undefined) | undefined;
  /** System message for requests that have none. @default none */
  readonly system?: string | undefined;
  /** Position; within the tool loop, the options may depend on the iteration. @default AdvisorOrder.TOOL_CALLING - 50 */
  readonly order?: number | undefined;
}

const NAME = 'DefaultsAdvisor';
const RULES = { options: CHECKED_APART, system: TEXT };

/** Sets options, and a system message, that a request leaves open. */
export class DefaultsAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: DefaultsAdvisorOptions) {
    const place = { name: 'defaults', order: AdvisorOrder.TOOL_CALLING - 50 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    if (typeof options.options !== 'function') checkChatOptions(options.options ?? {}, NAME);
  }

  /** @throws {@link InvalidArgumentError} if a function returns options that are invalid */
  before(request: ChatClientRequest): ChatClientRequest {
    const { options, system } = this.options;
    const filled =
      system === undefined || request.prompt.systemMessage
        ? request
        : request.withPrompt(request.prompt.augmentSystemMessage(() => system));
    const wanted = typeof options === 'function' ? options(request) : options;
    return wanted ? withDefaults(filled, wanted, this.name) : filled;
  }
}

/** The request with defaults below what the client, the request and other advisors have set, and above the options of the model. */
function withDefaults(
  request: ChatClientRequest,
  defaults: DefaultOptions,
  name: string,
): ChatClientRequest {
  checkChatOptions(defaults, `advisor "${name}"`);
  const ofModel = request.model?.defaultOptions ?? {};
  const own = withoutDefaults(request.prompt.options, ofModel);
  const merged = mergeOptions(mergeOptions(request.prompt.options, defaults), own);
  return request.withPrompt(request.prompt.replaceOptions(merged));
}
