import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import { frozenOptions, type ChatOptions } from '../chat/chat-options.js';
import { OUTPUT_FORMAT, type OutputFormat } from '../chat/output-format.js';
import type { Prompt } from '../chat/prompt.js';
import { modelCallError } from '../chat/run-record.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { memoize } from '../internal/memoize.js';
import { Subscriber } from '../internal/rxjs.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** The prompt with an output format: as an option if the model can keep it, else as text. */
export function withOutputFormat(prompt: Prompt, format: OutputFormat, model: ChatModel): Prompt {
  return isNative(prompt, format, model)
    ? prompt.replaceOptions(withSchema(prompt.options)(format))
    : prompt.augmentUserMessage((text) => `${text}\n${format.text}`);
}

function isNative(
  { options }: Prompt,
  { schema, mode = 'auto' }: OutputFormat,
  model: ChatModel,
): boolean {
  if (!schema || mode === 'text') return false;
  if (mode === 'native') return true;
  return (
    options.responseFormat === undefined &&
    model.supportsSchema?.(schema) === true &&
    !rejectedBy(model).has(rejectionKey(options, schema))
  );
}

// memoized, so that equal input gives the same object, by which models cache
const withSchema = memoize((options: ChatOptions) =>
  memoize(({ schema }: OutputFormat): ChatOptions => {
    return schema ? frozenOptions({ ...options, responseFormat: { schema } }) : options;
  }),
);

/** Schemas that the provider of a model has rejected, so that they are not sent again. */
const rejectedBy = memoize((_model: ChatModel) => new Set<string>());
const MAX_REJECTED = 1_000;

function rejectionKey({ model = '' }: ChatOptions, schema: JsonSchema): string {
  return `${model}\n${textOf(schema)}`;
}

const textOf = memoize((schema: JsonSchema) => JSON.stringify(schema));

/** A subscriber that sends the instructions in place of the schema if the provider rejects that. */
export function withTextFallback(
  request: ChatClientRequest,
  model: ChatModel,
  subscriber: Subscriber<ChatEvent>,
  again: (subscriber: Subscriber<ChatEvent>) => void,
): Subscriber<ChatEvent> {
  const { prompt, context } = request;
  const format = context.get(OUTPUT_FORMAT);
  const { schema } = format ?? {};
  if (!format || !schema || format.mode === 'native' || !isNative(prompt, format, model))
    return subscriber;
  return new FormatSubscriber(subscriber, () => {
    const rejected = rejectedBy(model);
    if (rejected.size >= MAX_REJECTED) rejected.clear();
    rejected.add(rejectionKey(prompt.options, schema));
    again(subscriber);
  });
}

/** Names of the feature in the messages of providers that cannot enforce a schema. */
const SCHEMA_PROBLEM =
  /response[_ ]?(?:format|mime[_ ]?type)|output[_ ]?(?:config|format)|json[_ ]?(?:schema|mode|output)|structured[_ ]output/i;

class FormatSubscriber extends Subscriber<ChatEvent> {
  constructor(
    subscriber: Subscriber<ChatEvent>,
    private readonly sendAsText: () => void,
  ) {
    super(subscriber);
  }

  protected override _error(error: unknown): void {
    const { status = 0, providerMessage = '' } = modelCallError(error) ?? {};
    const isRejection = status >= 400 && status < 500 && SCHEMA_PROBLEM.test(providerMessage);
    if (!isRejection) return super._error(error);
    this.unsubscribe();
    this.sendAsText();
  }
}
