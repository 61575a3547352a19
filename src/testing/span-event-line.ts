import { Attribute, EventName } from '../observability/names.js';
import { onOneLine, textIn } from './span-attributes.js';
import type { SpanEvent, SpanLike } from './span-like.js';

/** What is told of an event of a span; nothing if the line of the span has said it. */
export function eventLine({ name, attributes }: SpanEvent, span: SpanLike): string | undefined {
  const about = (attribute: string): string | undefined => textIn(attributes, attribute);
  switch (name) {
    case EventName.RETRY:
      return line(['retry', about(Attribute.RETRY_ATTEMPT)], about(Attribute.ERROR_TYPE));
    case EventName.FALLBACK: {
      const model = about(Attribute.REQUEST_MODEL);
      return line(['fallback', model && `to ${model}`], about(Attribute.ERROR_TYPE));
    }
    case EventName.LIMIT: {
      const most = about(Attribute.LIMIT_MAX);
      return line(['limit', about(Attribute.LIMIT)], most && `at most ${most}`);
    }
    case EventName.TIMEOUT:
      return line(['timeout']);
    case EventName.EXCEPTION: {
      const message = about(Attribute.EXCEPTION_MESSAGE);
      if (message === undefined && textIn(span.attributes, Attribute.ERROR_TYPE) !== undefined) return undefined;
      return line(['exception', about(Attribute.EXCEPTION_TYPE)], message);
    }
    default:
      return line([name]);
  }
}

function line(words: readonly (string | undefined)[], reason?: string): string {
  return onOneLine(`* ${words.filter(Boolean).join(' ')}${reason === undefined ? '' : `: ${reason}`}`, 200);
}
