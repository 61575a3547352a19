import { OUTPUT_FORMAT } from '../advisor/ask-model.js';
import type { ChatClientResponse } from '../advisor/chat-client-response.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { InferInput, InputSchema } from '../tool/schema/input-schema.js';
import { runToEnd } from './run.js';
import type { SpecState } from './spec-state.js';
import { outputFormat, parseEntity } from './structured-output.js';

/** An answer together with the value that was read from it. */
export interface ResponseEntity<T> {
  readonly response: ChatResponse;
  readonly entity: T;
}

/** A request that is answered at once. Each method asks the model anew. */
export class CallResult {
  constructor(private readonly state: SpecState) {}

  /** The text of the answer; null if the model gave none. */
  async content(): Promise<string | null> {
    return (await runToEnd(this.state)).text;
  }

  /** The complete answer. */
  async chatResponse(): Promise<ChatResponse> {
    return (await runToEnd(this.state)).chatResponse;
  }

  /** The complete answer with the context of the advisors. */
  chatClientResponse(): Promise<ChatClientResponse> {
    return runToEnd(this.state);
  }

  /**
   * The answer as a value of a schema.
   * @throws StructuredOutputError if the answer does not fit the schema
   */
  async entity<S extends InputSchema>(schema: S): Promise<InferInput<S>> {
    return (await this.responseEntity(schema)).entity;
  }

  /** Like {@link entity}, together with the complete answer. */
  async responseEntity<S extends InputSchema>(schema: S): Promise<ResponseEntity<InferInput<S>>> {
    const params = this.state.params.with(OUTPUT_FORMAT, outputFormat(schema));
    const response = (await runToEnd({ ...this.state, params })).chatResponse;
    return { response, entity: await parseEntity(schema, response) };
  }
}
