import { AdvisorOrder, type Advisor } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import { checkOptions, FINITE, FUNCTION, TEXT } from '../src/internal/options.js';

/** Options of a {@link SimulatedStreamingAdvisor}. */
export interface SimulatedStreamingAdvisorOptions {
  /**
   * Decides which requests are calls, for example those with tools.
   * @default all
   */
  readonly when?: ((request: ChatClientRequest) => boolean) | undefined;
  /** @default 'simulated-streaming' */
  readonly name?: string | undefined;
  /**
   * Position: within the tool loop, the text of each iteration is streamed; before it, that of the
   * answer alone.
   * @default AdvisorOrder.LOGGER + 500
   */
  readonly order?: number | undefined;
}

const RULES = { when: FUNCTION, name: TEXT, order: FINITE };

/**
 * Calls the model for a whole answer and streams that, for models and servers that cannot stream, or
 * not well. The chain streams an answer that came without deltas.
 */
export class SimulatedStreamingAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  private readonly when: (request: ChatClientRequest) => boolean;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: SimulatedStreamingAdvisorOptions = {}) {
    checkOptions('SimulatedStreamingAdvisor', options, RULES);
    this.name = options.name ?? 'simulated-streaming';
    this.order = options.order ?? AdvisorOrder.LOGGER + 500;
    this.when = options.when ?? (() => true);
  }

  before(request: ChatClientRequest): ChatClientRequest {
    return request.mode === 'stream' && this.when(request)
      ? request.with({ mode: 'call' })
      : request;
  }
}
