import { isJson, jsonList, type Cassette, type Interaction } from './cassettes.js';
import {
  answerOf,
  errorOf,
  isCut,
  isFunctionCall,
  type RecordedChoice,
} from './recorded-answer.js';
import { loopsOf } from './recorded-loop.js';

/** Class of a recording, by its rarest feature. */
export function classOf(cassette: Cassette): string {
  const { interactions } = cassette;
  const errors = interactions
    .map(({ response }) => errorOf(response))
    .filter((error) => error !== undefined);
  if (errors.some(({ status, inBand }) => status === 429 && !inBand))
    return 'rate limit: ModelCallError 429, retryable';
  if (errors.some(({ inBand }) => inBand))
    return 'error inside a stream: ModelCallError with the partial text';
  if (errors.length > 0) return 'provider error: ModelCallError with status, code and message';
  if (interactions.some(({ response }) => isCut(response)))
    return 'cut stream: IncompleteResponseError';
  if (interactions.some(({ response }) => answerOf(response).choices.length === 0))
    return 'not a completion: ModelCallError';
  return answerClass(cassette);
}

function answerClass(cassette: Cassette): string {
  const { interactions } = cassette;
  const choices = interactions.flatMap(({ response }) => answerOf(response).choices);
  const some = (holds: (choice: RecordedChoice) => boolean): boolean => choices.some(holds);
  if (choices.length > interactions.length) return 'several choices';
  if (some(({ refusal }) => refusal !== '')) return 'refusal';
  if (interactions.some(hasCustomCall))
    return 'call of a custom tool: an answer without our tool calls';
  if (some(({ finishReason }) => finishReason === 'function_call'))
    return 'legacy function call: an answer without tool calls';
  if (some(({ finishReason }) => finishReason === 'length'))
    return 'cut at the token limit: finish reason length';
  if (loopsOf(cassette).length > 0) return 'tool loop, replayed through ChatClient';
  if (some(({ calls }) => calls.length > 0))
    return 'tool calls (a loop that the recording client did in its own way, or none)';
  return some(({ text }) => text === '') ? 'empty answer' : 'answer';
}

function hasCustomCall({ response: { body } }: Interaction): boolean {
  const messages = isJson(body) ? jsonList(body['choices']).map((choice) => choice['message']) : [];
  return messages.some(
    (message) =>
      isJson(message) && jsonList(message['tool_calls']).some((call) => !isFunctionCall(call)),
  );
}
