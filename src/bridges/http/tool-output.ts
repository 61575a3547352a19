import type { Decision } from '../../core/chat/paused-turn.js';
import { jsonData } from '../../core/internal/json-data.js';
import { invalidInput } from './request-input.js';

/** The answer of a client for a call of a tool that it runs: an output, or the text of an error. */
export type SentOutput = { readonly value: unknown } | { readonly error: string };

const MAX_ERROR = 10_000;

/**
 * The answer of a client to the request for a call that it runs.
 * @param maxCharacters most characters of the JSON of an output
 * @throws InvalidArgumentError if it is too large, or no JSON, which is answered by 400
 */
export function outputDecision(
  sent: SentOutput,
  maxCharacters: number,
  by: string | undefined,
): Decision {
  const person = by === undefined ? {} : { by };
  if ('error' in sent) {
    const reason = sent.error.trim();
    if (reason.length > MAX_ERROR)
      throw invalidInput(`The error of a tool has more than ${MAX_ERROR} characters.`);
    return { type: 'cancel', ...(reason !== '' && { reason }), ...person };
  }
  const value = jsonData(sent.value);
  if (value === undefined) throw invalidInput('The output of a tool must be JSON.');
  if (JSON.stringify(value).length > maxCharacters)
    throw invalidInput(`The output of a tool has more than ${maxCharacters} characters.`);
  return { type: 'answer', value, ...person };
}
