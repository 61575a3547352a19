import type { Message } from '../../chat/message.js';
import type { Prompt } from '../../chat/prompt.js';
import type { Wire } from './wire-json.js';
import { toWireMessages, toWireRequest, type StreamSettings } from './wire.js';

const optionTexts = new WeakMap<Wire, string>();

const STREAM = fieldsOf({ stream: true });
const STREAM_WITH_USAGE = fieldsOf({ stream: true, stream_options: { include_usage: true } });

/**
 * A request body as JSON text, the same as that of `toWireRequest`. In a tool loop, which sends all its history in every iteration,
 * each message is written once, and the options too; writing them anew each time would cost the square of the length.
 */
export function writeBody(prompt: Prompt, options: Wire, stream: StreamSettings): string {
  // extra fields of the caller that stand where ours would
  if ('messages' in options || 'stream' in options) return JSON.stringify(toWireRequest(prompt.messages, options, stream));
  const fields = [`"messages":[${prompt.fold(writeMessages)}]`, optionFields(options), streamFields(options, stream)];
  return `{${fields.filter((field) => field !== '').join(',')}}`;
}

function writeMessages(before: string | undefined, added: readonly Message[]): string {
  const text = JSON.stringify(toWireMessages(added)).slice(1, -1);
  return before && text ? `${before},${text}` : before || text;
}

function optionFields(options: Wire): string {
  let text = optionTexts.get(options);
  if (text === undefined) optionTexts.set(options, (text = fieldsOf(options)));
  return text;
}

function streamFields(options: Wire, stream: StreamSettings): string {
  if (!stream) return '';
  return stream.usage && !('stream_options' in options) ? STREAM_WITH_USAGE : STREAM;
}

/** The fields of an object as JSON, without the braces around them. */
function fieldsOf(wire: Wire): string {
  return JSON.stringify(wire).slice(1, -1);
}
