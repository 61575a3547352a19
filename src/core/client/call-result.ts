import type { ChatClientResponse } from '../advisor/chat-client-response.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { useInstead } from '../internal/name-hint.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import type { InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import { answered } from './resume.js';
import { runToEnd } from './run.js';
import type { RequestSettings } from './request-settings.js';
import { EntityReader, type EntityOptions } from './structured-output.js';

/** An answer with the value parsed from it. */
export interface ResponseEntity<T, Tool extends OfferedTool = OfferedTool> {
  readonly response: ChatClientResponse<Tool>;
  readonly entity: T;
}

/**
 * A request for one complete answer. The first method that is called starts its run; the others give
 * the same answer, or fail with the same error.
 */
export class CallResult<T extends OfferedTool = OfferedTool> {
  private run: Promise<ChatClientResponse<T>> | undefined;

  constructor(private readonly settings: RequestSettings) {}

  /**
   * The text of the answer; null if it has none.
   * @throws TurnPausedError if the turn waits for people
   */
  async content(): Promise<string | null> {
    return answered(await this.response()).text;
  }

  /** The complete answer. */
  async chatResponse(): Promise<ChatResponse> {
    return (await this.response()).chatResponse;
  }

  /** The complete answer with the context of the advisors. */
  chatClientResponse(): Promise<ChatClientResponse<T>> {
    return this.response();
  }

  /**
   * The value of the answer by a schema, which the model gets if this starts the run.
   * @throws InvalidArgumentError if the schema or an option is invalid
   * @throws StructuredOutputError if the answer does not fit the schema
   * @throws LimitExceededError if it has more values than `maxValues`
   */
  async entity<S extends InputSchema>(schema: S, options?: EntityOptions): Promise<InferOutput<S>> {
    return (await this.responseEntity(schema, options)).entity;
  }

  /** Like {@link entity}, with the complete answer, its steps, ledger and context. */
  async responseEntity<S extends InputSchema>(
    schema: S,
    options?: EntityOptions,
  ): Promise<ResponseEntity<InferOutput<S>, T>> {
    const reader = new EntityReader(schema, options, this.settings.signal);
    const response = await this.response(reader);
    const entity = await reader.read(response, response.run);
    return { response, entity };
  }

  protected get text(): never {
    return useInstead('await content()');
  }

  protected get [Symbol.asyncIterator](): never {
    return useInstead('stream() in place of call()');
  }

  /** @param reader of the value that a run that this starts asks for */
  private response(reader?: EntityReader<InputSchema>): Promise<ChatClientResponse<T>> {
    const { settings } = this;
    return (this.run ??= runToEnd(
      reader ? { ...settings, params: reader.paramsFor(settings.params) } : settings,
    ));
  }
}
