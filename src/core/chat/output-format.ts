import type { ChatResponse } from './chat-response.js';
import { ContextKey } from './context.js';
import type { JsonSchema } from './tool-definition.js';

/** The format that the answer of a run must have. */
export interface OutputFormat {
  /** Instructions for the model, for the end of the last user message. */
  readonly text: string;
  /** JSON Schema of what the model must write; without it there are only the instructions. */
  readonly schema?: JsonSchema | undefined;
  /**
   * `native`: the schema is sent as the option `responseFormat`, without the instructions; `text`:
   * the instructions are sent; `auto`: native if the model supports the schema and the request has
   * no `responseFormat` of its own, and text if the provider rejects it.
   * @default 'auto'
   */
  readonly mode?: 'auto' | 'native' | 'text' | undefined;
  /**
   * The value of an answer. Rejects with a `StructuredOutputError` if the answer does not have the
   * format.
   */
  readonly parse?: ((response: ChatResponse) => Promise<unknown>) | undefined;
}

/**
 * The output format of a request, set by `entity(schema)`. It is applied at the end of the chain,
 * in each model call, so that neither memory nor another advisor sees it in the messages.
 */
export const OUTPUT_FORMAT = new ContextKey<OutputFormat | undefined>(
  'advisor-chain.output-format',
);
