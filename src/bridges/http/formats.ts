import type { ChatEvent } from '../../core/chat/chat-event.js';
import { TextSubscriber } from '../../core/client/stream-texts.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { Subscriber } from '../../core/internal/rxjs.js';
import type { HttpError } from './http-error.js';
import { publicEvent, type ShownEvents } from './public-event.js';
import type { StreamEncoder, StreamFormat } from './stream-format.js';

/** Names of the built-in formats. */
export type FormatName = 'text' | 'sse' | 'ndjson';

/** Writes each event between two texts, in JSON, which has no line break. */
class JsonEncoder implements StreamEncoder {
  constructor(
    private readonly before: string,
    private readonly after: string,
    readonly heartbeat: string,
    private readonly customEvents: ShownEvents,
  ) {}

  encode(event: ChatEvent): string {
    const shown = publicEvent(event, this.customEvents);
    return shown ? this.frame(shown) : '';
  }

  fail(error: HttpError): string {
    return this.frame({ type: 'error', error });
  }

  end(): string {
    return '';
  }

  private frame(data: object): string {
    return this.before + JSON.stringify(data) + this.after;
  }
}

class TextSink extends Subscriber<string> {
  constructor(
    protected override readonly _next: (text: string) => void,
    protected override readonly _error: (error: unknown) => void,
  ) {
    super();
  }
}

/** Writes the texts of the iterations as one text, like `content()` of a stream. */
export class TextEncoderOfEvents implements StreamEncoder {
  readonly heartbeat = '';
  /** Text of the current iteration, which the subscriber reads. */
  partialText = '';
  private written = '';
  private failure: { readonly error: unknown } | undefined;
  private readonly texts = new TextSubscriber(
    new TextSink(
      (text) => (this.written += text),
      (error) => (this.failure = { error }),
    ),
    this,
  );

  /** @throws TurnPausedError at the end of a turn that waits for people, which a text cannot show */
  encode(event: ChatEvent): string {
    if (event.type === 'text-delta') this.partialText += event.text;
    this.texts.next(event);
    if (event.type === 'iteration' || event.type === 'retract') this.partialText = '';
    if (this.failure) throw this.failure.error;
    const { written } = this;
    this.written = '';
    return written;
  }

  fail(): string {
    return ''; // a text for the reader would be a part of the answer
  }

  end(): string {
    return '';
  }
}

const FORMATS: Readonly<Record<FormatName, (customEvents: ShownEvents) => StreamFormat>> = {
  text: () => ({
    contentType: 'text/plain; charset=utf-8',
    encoder: () => new TextEncoderOfEvents(),
  }),
  sse: (customEvents) => ({
    contentType: 'text/event-stream; charset=utf-8',
    encoder: () => new JsonEncoder('data: ', '\n\n', ':\n\n', customEvents),
  }),
  ndjson: (customEvents) => ({
    contentType: 'application/x-ndjson; charset=utf-8',
    encoder: () => new JsonEncoder('', '\n', '', customEvents),
  }),
};

/** @throws InvalidArgumentError for names of events beside a format that does not write them */
export function formatOf(
  format: FormatName | StreamFormat,
  customEvents: ShownEvents | undefined,
): StreamFormat {
  if (customEvents && format !== 'sse' && format !== 'ndjson')
    throw new InvalidArgumentError(
      "toResponse: customEvents is for the formats 'sse' and 'ndjson'; others have an option of their own",
    );
  return typeof format === 'string' ? FORMATS[format](customEvents ?? []) : format;
}
