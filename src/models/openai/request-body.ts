import type { Message } from '../../chat/message.js';
import type { Wire } from './wire-json.js';
import { toWireMessage, toWireRequest } from './wire.js';

const messageTexts = new WeakMap<Message, string>();
const optionTexts = new WeakMap<Wire, string>();

/** How to stream: not at all, or with or without asking for usage. */
export type StreamSettings = false | { readonly usage: boolean };

const STREAM = fieldsOf({ stream: true });
const STREAM_WITH_USAGE = fieldsOf({ stream: true, stream_options: { include_usage: true } });

/**
 * A request body as JSON text, the same as that of `toWireRequest`. Each message and each set of options is written once, in
 * however many requests it goes out: a tool loop sends all its history in every iteration, and writing it anew each time would cost
 * the square of its length.
 */
export function writeBody(messages: readonly Message[], options: Wire, stream: StreamSettings): string {
  // extra fields of the caller that stand where ours would
  if ('messages' in options || 'stream' in options) return JSON.stringify(toWireRequest(messages, options, stream));
  const texts = messages.map((message) => written(messageTexts, message, (given) => JSON.stringify(toWireMessage(given))));
  const fields = [`"messages":[${texts.join(',')}]`, written(optionTexts, options, fieldsOf), streamFields(options, stream)];
  return `{${fields.filter((field) => field !== '').join(',')}}`;
}

function streamFields(options: Wire, stream: StreamSettings): string {
  if (!stream) return '';
  return stream.usage && !('stream_options' in options) ? STREAM_WITH_USAGE : STREAM;
}

/** The fields of an object as JSON, without the braces around them. */
function fieldsOf(wire: Wire): string {
  return JSON.stringify(wire).slice(1, -1);
}

function written<T extends object>(known: WeakMap<T, string>, value: T, write: (value: T) => string): string {
  let text = known.get(value);
  if (text === undefined) known.set(value, (text = write(value)));
  return text;
}
