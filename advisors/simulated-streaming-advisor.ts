import { AdvisorOrder, type Advisor } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import { FUNCTION } from '../src/core/internal/options.js';

/** Options of a {@link SimulatedStreamingAdvisor}. */
export interface SimulatedStreamingAdvisorOptions extends AdvisorPlace {
  /**
   * Decides which requests are calls, for example those with tools.
   * @default all
   */
  readonly when?: ((request: ChatClientRequest) => boolean) | undefined;
  /**
   * Position: within the tool loop, the text of each iteration is streamed; before it, the text of
   * the answer alone.
   * @default AdvisorOrder.LOGGER + 500
   */
  readonly order?: number | undefined;
}

const NAME = 'SimulatedStreamingAdvisor';
const RULES = { when: FUNCTION };

/**
 * Calls the model for a whole answer and streams that, for models and servers that cannot stream, or
 * not well. The chain streams an answer that came without deltas.
 */
export class SimulatedStreamingAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  private readonly when: (request: ChatClientRequest) => boolean;
  /** @internal As they were given, for inspectors. */
  readonly options: SimulatedStreamingAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: SimulatedStreamingAdvisorOptions = {}) {
    this.options = options;
    const place = { name: 'simulated-streaming', order: AdvisorOrder.LOGGER + 500 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    this.when = options.when ?? (() => true);
  }

  before(request: ChatClientRequest): ChatClientRequest {
    return request.mode === 'stream' && this.when(request)
      ? request.with({ mode: 'call' })
      : request;
  }
}
