import { ChatClientResponse } from '../advisor/chat-client-response.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import type { RunRecord } from '../chat/run-record.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { useInstead } from '../internal/name-hint.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import type { Backpressure } from '../internal/cancellation.js';
import { Subscriber } from '../internal/rxjs.js';
import type { InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import { EventBuffer } from './event-buffer.js';
import { IterableObservable } from './iterable-observable.js';
import { PartialEntitySubscriber, type PartialEntity } from './partial-entity.js';
import type { RequestSettings } from './request-settings.js';
import { recordOf, Run } from './run.js';
import { TextSubscriber, type StreamOptions, type TextSource } from './stream-texts.js';
import { EntityReader, type EntityOptions } from './structured-output.js';

/**
 * A request for a streamed answer. Its Observables are cold: each subscription and iteration is a
 * run of its own. Its Promises belong to the run that was started last.
 */
export class StreamResult<T extends OfferedTool = OfferedTool> implements AsyncIterable<string> {
  /** The run that was started last. */
  private run: Run | undefined;
  /** The events of that run, if a Promise started it and it has no subscriber yet. */
  private unclaimed: EventBuffer | undefined;

  constructor(
    private settings: RequestSettings,
    private readonly options: StreamOptions = {},
  ) {}

  /** The text of all iterations of the turn, as it arrives; see {@link StreamOptions}. */
  content(): IterableObservable<string> {
    return this.view((texts, run) => new TextSubscriber(texts, run, this.options, this.settings));
  }

  /** The complete answer, once, at the end. */
  chatResponse(): IterableObservable<ChatResponse> {
    return this.view((responses) => new AnswerSubscriber(responses, ({ response }) => response));
  }

  /** The complete answer with the context of the advisors, once, at the end. */
  chatClientResponse(): IterableObservable<ChatClientResponse<T>> {
    return this.view(
      (responses) => new AnswerSubscriber(responses, (event) => ChatClientResponse.of(event)),
    );
  }

  /** All events: deltas, iterations, tool calls and their results, and finally the response. */
  events(): IterableObservable<ChatEvent<T>> {
    return this.view((events: Subscriber<ChatEvent>) => events) as IterableObservable<ChatEvent<T>>;
  }

  /**
   * The complete answer of the run that was started last, also if it has ended. Without a run it
   * starts one, which the first subscription or iteration takes over with all its events. Rejects
   * with the error of the run; with a {@link CancelledError} if its consumer left early.
   */
  finalResponse(): Promise<ChatClientResponse<T>> {
    return this.lastRun().response;
  }

  /**
   * The value by a schema in the answer of the run that was started last; see {@link finalResponse}.
   * The schema is sent by runs that are started after it is given, here or in
   * {@link partialEntity}.
   * @throws InvalidArgumentError if the schema or an option is invalid
   * @throws StructuredOutputError if the answer does not fit the schema
   * @throws LimitExceededError if it has more values than `maxValues`
   */
  entity<S extends InputSchema>(schema: S, options?: EntityOptions): Promise<InferOutput<S>> {
    const entity = this.readEntity(schema, options);
    entity.catch(() => undefined); // like a rejected `finalResponse()`, it does not end the process
    return entity;
  }

  /**
   * The value by a schema as it grows: a new object each time it has changed, any part of which may
   * be missing, and at the end the value that {@link entity} returns. Fails like that.
   */
  partialEntity<S extends InputSchema>(
    schema: S,
    options?: EntityOptions,
  ): IterableObservable<PartialEntity<S>> {
    return this.view(
      (values) => new PartialEntitySubscriber(values, this.addSchema(schema, options)),
    );
  }

  /** The text like {@link content}, with backpressure; leaving the loop early cancels the run. */
  [Symbol.asyncIterator](): AsyncIterableIterator<string> {
    return this.content()[Symbol.asyncIterator]();
  }

  /** The text as a web stream, with backpressure; cancelling it cancels the run. */
  toReadableStream(): ReadableStream<string> {
    const texts = this[Symbol.asyncIterator]();
    const pull = async (controller: ReadableStreamDefaultController<string>): Promise<void> => {
      const next = await texts.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    };
    const cancel = async (): Promise<void> => {
      await texts.return?.();
    };
    // without a buffer, nothing runs before the first read
    return new ReadableStream<string>({ pull, cancel }, { highWaterMark: 0 });
  }

  protected get textStream(): never {
    return useInstead('for await (const text of stream)');
  }

  protected get subscribe(): never {
    return useInstead('content().subscribe(…)');
  }

  private view<V>(
    toEvents: (values: Subscriber<V>, run: TextSource) => Subscriber<ChatEvent>,
  ): IterableObservable<V> {
    return new IterableObservable((values, ready) => {
      const source = this.unclaimed ?? recordOf(this.settings);
      const events = toEvents(values, source); // may throw: then the run stays unclaimed
      this.unclaimed = undefined;
      if (source instanceof EventBuffer) source.handTo(events, ready);
      else this.startRun(source, events, ready);
    });
  }

  private async readEntity<S extends InputSchema>(
    schema: S,
    options?: EntityOptions,
  ): Promise<InferOutput<S>> {
    const reader = this.addSchema(schema, options);
    const response = await this.lastRun().response;
    return reader.read(response, response.run);
  }

  private addSchema<S extends InputSchema>(schema: S, options?: EntityOptions): EntityReader<S> {
    const reader = new EntityReader(schema, options, this.settings.signal);
    const params = reader.paramsFor(this.settings.params);
    this.settings = { ...this.settings, params };
    return reader;
  }

  private lastRun(): Run {
    if (this.run) return this.run;
    this.unclaimed = new EventBuffer();
    return this.startRun(recordOf(this.settings), this.unclaimed, this.unclaimed.ready);
  }

  private startRun(
    record: RunRecord,
    events: Subscriber<ChatEvent>,
    ready: Backpressure | undefined,
  ): Run {
    const run = new Run(this.settings, 'stream', record, events, ready);
    this.run = run; // before it starts: a consumer may ask for its answer at the first event
    run.start();
    return run;
  }
}

class AnswerSubscriber<V> extends Subscriber<ChatEvent> {
  constructor(
    private readonly answers: Subscriber<V>,
    private readonly toAnswer: (event: ResponseEvent) => V,
  ) {
    super(answers);
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'response') this.answers.next(this.toAnswer(event));
  }
}
