import { callsOf } from '../../src/core/chat/message.js';
import { isDeepStrictEqual } from 'node:util';
import type { Observable } from 'rxjs';
import {
  IncompleteResponseError,
  ModelCallError,
  Prompt,
  type ChatEvent,
  type ChatResponse,
} from '../../src/index.js';
import type { Generation } from '../../src/core/chat/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { redact } from '../../src/core/internal/redact.js';
import { inOtherMode } from './body-conversion.js';
import { jsonList, type Interaction, type Json, type RecordedResponse } from './cassettes.js';
import type { PlaybackServer } from './playback-server.js';
import {
  answerOf,
  errorOf,
  isCut,
  type RecordedCall,
  type RecordedChoice,
  type RecordedError,
} from './recorded-answer.js';
import { argumentsOf, essenceOf, taskOf } from './recorded-request.js';

/** Mode of a request. */
export type Mode = 'call' | 'stream';

/** Outcome of a request: a response or an error, and the sent requests. */
export interface Outcome {
  readonly response?: ChatResponse;
  readonly error?: unknown;
  readonly deltas: string;
  readonly requests: readonly Json[];
}

/** The mode that an answer was recorded in. */
export function modeOf({ sse }: RecordedResponse): Mode {
  return sse ? 'stream' : 'call';
}

export function otherMode(mode: Mode): Mode {
  return mode === 'call' ? 'stream' : 'call';
}

/** Asks the model itself, in the recorded mode or in the other one. */
export async function replay(
  server: PlaybackServer,
  { request, response }: Interaction,
  recorded: boolean,
): Promise<Outcome> {
  const mode = recorded ? modeOf(response) : otherMode(modeOf(response));
  const run = server.play([recorded ? response : inOtherMode(response)]);
  const { messages, options } = taskOf(request.body);
  const model = new OpenAIChatModel({ apiKey: 'sk-test', baseURL: run.baseURL, maxRetries: 0 });
  const outcome = await settle((onEvent) =>
    ask(model, new Prompt(messages, options), mode, onEvent),
  );
  return { ...outcome, requests: run.requests };
}

/** Sends a request and passes its events to a callback. */
export type Ask = (onEvent: (event: ChatEvent) => void) => Promise<ChatResponse>;

/** Waits for the outcome of a request. */
export async function settle(send: Ask): Promise<Omit<Outcome, 'requests'>> {
  let deltas = '';
  try {
    const response = await send((event) => {
      if (event.type === 'text-delta') deltas += event.text;
      if (event.type === 'iteration') deltas = '';
    });
    return { response, deltas };
  } catch (error) {
    return { error, deltas };
  }
}

function ask(
  model: OpenAIChatModel,
  prompt: Prompt,
  mode: Mode,
  onEvent: (event: ChatEvent) => void,
): Promise<ChatResponse> {
  return mode === 'call' ? model.call(prompt) : lastOf(model.stream(prompt), onEvent);
}

/** The response of a stream. */
export async function lastOf(
  events: Observable<ChatEvent>,
  onEvent: (event: ChatEvent) => void = () => undefined,
): Promise<ChatResponse> {
  let response: ChatResponse | undefined;
  await events.forEach((event) => {
    onEvent(event);
    if (event.type === 'response') response = event.response;
  });
  if (!response) throw new Error('completed without a response');
  return response;
}

/** Differences between an outcome and its recording. */
export function differences(
  { response }: Interaction,
  outcome: Outcome,
  mode: Mode,
): readonly string[] {
  const error = errorOf(response);
  if (error) return errorDifferences(error, outcome.error);
  if (isCut(response))
    return outcome.error instanceof IncompleteResponseError
      ? []
      : ['cut, but not an IncompleteResponseError'];
  const answer = answerOf(response);
  if (answer.choices.length === 0)
    return outcome.error instanceof ModelCallError ? [] : ['no choices, but no ModelCallError'];
  if (!outcome.response) return [`failed: ${String(outcome.error)}`];
  const { generations, usage, text } = outcome.response;
  return [
    ...unequal('choices', generations.length, answer.choices.length),
    ...answer.choices.flatMap((choice, at) => choiceDifferences(choice, generations[at])),
    ...unequal('usage', usage && [usage.inputTokens, usage.outputTokens], answer.usage),
    ...(mode === 'stream' ? unequal('deltas', outcome.deltas, text ?? '') : []),
  ];
}

function choiceDifferences(
  choice: RecordedChoice,
  generation: Generation | undefined,
): readonly string[] {
  if (!generation) return ['a choice is missing'];
  const { message, finishReason } = generation;
  return [
    ...unequal('text', message.content ?? '', choice.text),
    ...unequal('reasoning', message.reasoning ?? '', choice.reasoning),
    ...unequal('refusal', message.refusal ?? '', choice.refusal),
    ...unequal('finish reason', finishReason, choice.finishReason),
    ...unequal('calls', callsOf(message).map(callOf), choice.calls.map(callOf)),
    ...choice.calls.flatMap(({ id }, at) =>
      id === undefined ? [] : unequal('call id', callsOf(message)[at]?.id, id),
    ),
    ...(callsOf(message).every(({ id }) => id !== '') ? [] : ['a call without an id']),
  ];
}

function callOf({ name, arguments: text }: Omit<RecordedCall, 'id'>): readonly unknown[] {
  return [name, argumentsOf(text)];
}

function errorDifferences(
  { status, code, message, retryable }: RecordedError,
  error: unknown,
): readonly string[] {
  if (!(error instanceof ModelCallError) || error instanceof IncompleteResponseError)
    return [`not the error of the provider: ${String(error)}`];
  const shown = message && redact(message, []);
  return [
    ...unequal('status', error.status, status),
    ...unequal('retryable', error.retryable, status === undefined ? error.retryable : retryable),
    ...(code === undefined ? [] : unequal('provider code', error.providerCode, code)),
    ...(shown === undefined ? [] : unequal('provider message', error.providerMessage, shown)),
    ...(error.message.includes(shown ?? '') ? [] : ['the message lacks the reason']),
  ];
}

/** One sentence if two values differ. */
export function unequal(what: string, found: unknown, expected: unknown): readonly string[] {
  return isDeepStrictEqual(found, expected)
    ? []
    : [`${what} ${short(found)} instead of ${short(expected)}`];
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 160);
}

/** Differences between the same response in both modes. */
export function parityDifferences(a: Outcome, b: Outcome): readonly string[] {
  if (a.error instanceof ModelCallError && b.error instanceof ModelCallError) {
    const essence = ({
      name,
      status,
      providerCode,
      providerMessage,
      retryable,
    }: ModelCallError): readonly unknown[] => [
      name,
      status,
      providerCode,
      providerMessage,
      retryable,
    ];
    return unequal('error', essence(a.error), essence(b.error));
  }
  const essence = ({ response }: Outcome): unknown =>
    response && {
      ...response,
      generations: response.generations.map(generationEssence),
      metadata: undefined,
      rateLimit: undefined,
    };
  return [
    ...unequal('answer', essence(a), essence(b)),
    ...unequal('requests', a.requests.map(withoutStreaming), b.requests.map(withoutStreaming)),
  ];
}

/** Metadata of a choice may differ: servers send some of it only in one mode. */
function generationEssence({ message, finishReason }: Generation): unknown {
  return { message, finishReason };
}

function withoutStreaming({ stream: _stream, stream_options: _options, ...body }: Json): Json {
  return body;
}

/** Differences between the sent and the recorded request, apart from the stream fields. */
export function requestDifferences(
  { request }: Interaction,
  outcome: Outcome,
  mode: Mode,
): readonly string[] {
  const sent = outcome.requests[0];
  if (outcome.requests.length !== 1 || !sent)
    return [`${outcome.requests.length} requests instead of 1`];
  const streaming = unequal('stream', sent['stream'] ?? false, mode === 'stream');
  if (!request.body) return streaming;
  const { messages, ...fields } = withoutStreaming(sent);
  const { messages: recordedMessages, ...recorded } = withoutStreaming(request.body);
  const pairs = jsonList(recordedMessages).map(
    (message, at) => [essenceOf(jsonList(messages)[at] ?? {}), essenceOf(message)] as const,
  );
  return [
    ...streaming,
    ...pairs.flatMap(([a, b], at) => unequal(`message ${at}`, a, b)),
    ...unequal('number of messages', jsonList(messages).length, jsonList(recordedMessages).length),
    ...Object.keys({ ...fields, ...recorded }).flatMap((name) =>
      unequal(name, fields[name], recorded[name]),
    ),
  ];
}
