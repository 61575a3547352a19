import type { ChatClientResponse } from '../advisor/chat-client-response.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import type { InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import { answered } from './paused-response.js';
import { runToEnd } from './run.js';
import type { RequestSettings } from './request-settings.js';
import { EntityReader, type EntityOptions } from './structured-output.js';

/** An answer with the value parsed from it. */
export interface ResponseEntity<T> {
  readonly response: ChatResponse;
  readonly entity: T;
}

/** A request for one complete answer. Each method is a run of its own. */
export class CallResult<T extends OfferedTool = OfferedTool> {
  constructor(private readonly settings: RequestSettings) {}

  /**
   * The text of the answer; null if it has none.
   * @throws TurnPausedError if the turn waits for people
   */
  async content(): Promise<string | null> {
    return answered(await runToEnd(this.settings)).text;
  }

  /** The complete answer. */
  async chatResponse(): Promise<ChatResponse> {
    return (await runToEnd(this.settings)).chatResponse;
  }

  /** The complete answer with the context of the advisors. */
  chatClientResponse(): Promise<ChatClientResponse<T>> {
    return runToEnd(this.settings);
  }

  /**
   * The value of the answer by a schema, which the model gets.
   * @throws InvalidArgumentError if the schema or an option is invalid
   * @throws StructuredOutputError if the answer does not fit the schema
   * @throws LimitExceededError if it has more values than `maxValues`
   */
  async entity<S extends InputSchema>(schema: S, options?: EntityOptions): Promise<InferOutput<S>> {
    return (await this.responseEntity(schema, options)).entity;
  }

  /** Like {@link entity}, with the complete answer. */
  async responseEntity<S extends InputSchema>(
    schema: S,
    options?: EntityOptions,
  ): Promise<ResponseEntity<InferOutput<S>>> {
    const reader = new EntityReader(schema, options, this.settings.signal);
    const params = reader.paramsFor(this.settings.params);
    const response = await runToEnd({ ...this.settings, params });
    const entity = await reader.read(response, response.run);
    return { response: response.chatResponse, entity };
  }
}
