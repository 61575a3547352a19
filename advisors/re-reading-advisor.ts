import { AdvisorOrder, type Advisor } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import { textOf } from '../src/core/chat/message.js';
import { FUNCTION } from '../src/core/internal/options.js';

/** Options of a {@link ReReadingAdvisor}. */
export interface ReReadingAdvisorOptions extends AdvisorPlace {
  /**
   * Returns the text for the model: the question itself if it is not to be repeated, such as a
   * long one.
   * @default the question, `Read the question again:` and the question
   */
  readonly template?: ((question: string) => string) | undefined;
  /**
   * Position, right of the memory, which then stores the question as it was asked, and left of
   * documents that are added to it.
   * @default AdvisorOrder.RETRIEVAL - 100
   */
  readonly order?: number | undefined;
}

const RULES = { template: FUNCTION };
const twice = (question: string): string => `${question}\nRead the question again: ${question}`;

/** Repeats the question of the user, which helps models without reasoning to answer it. */
export class ReReadingAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['rewrites-question'] as const;
  private readonly template: (question: string) => string;
  /** @internal As they were given, for inspectors. */
  readonly options: ReReadingAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ReReadingAdvisorOptions = {}) {
    this.options = options;
    const place = { name: 're-reading', order: AdvisorOrder.RETRIEVAL - 100 };
    ({ name: this.name, order: this.order } = placeOf('ReReadingAdvisor', options, RULES, place));
    this.template = options.template ?? twice;
  }

  before(request: ChatClientRequest): ChatClientRequest {
    const { prompt } = request;
    // images without a text have nothing to read again
    if (textOf(prompt.userMessage?.content ?? '').trim() === '') return request;
    return request.withPrompt(prompt.augmentUserMessage(this.template));
  }
}
