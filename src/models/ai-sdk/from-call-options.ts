import type { ChatOptions } from '../../core/chat/chat-options.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { sameOptions } from './call-options.js';

/** Options of a request of the AI SDK that a client has as well. */
export function fromCallOptions(options: JsonObject): ChatOptions {
  const fields = {
    maxTokens: options['maxOutputTokens'],
    ...sameOptions(options),
    responseFormat: toFormat(options['responseFormat']),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

function toFormat(format: unknown): ChatOptions['responseFormat'] {
  if (!isPlainObject(format) || format['type'] !== 'json') return undefined;
  const { schema, name } = format;
  return isPlainObject(schema) ? { schema, ...(typeof name === 'string' && { name }) } : 'json';
}
