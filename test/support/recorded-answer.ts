import {
  chunksOf,
  isJson,
  jsonList,
  stringOf,
  type Json,
  type RecordedResponse,
} from './cassettes.js';

/**
 * Content of a recorded response, read by separate rules so that the library is not its own judge.
 */
export interface RecordedAnswer {
  readonly choices: readonly RecordedChoice[];
  /** Input and output tokens; undefined if none were reported. */
  readonly usage: readonly [number, number] | undefined;
}

export interface RecordedChoice {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly RecordedCall[];
  readonly finishReason: string | undefined;
}

export interface RecordedCall {
  /** Undefined if the provider gave none. */
  readonly id: string | undefined;
  readonly name: string;
  readonly arguments: string;
}

/**
 * The error of a response: its own, or one inside a stream or a body of status 200. Fields are
 * undefined if the server did not report them in a known form.
 */
export interface RecordedError {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly retryable: boolean;
  readonly inBand: boolean;
}

/** The answer of a response without an error. */
export function answerOf({ body, sse }: RecordedResponse): RecordedAnswer {
  if (sse) return streamedAnswer(chunksOf(sse));
  const whole = isJson(body) ? body : {};
  return {
    choices: jsonList(whole['choices']).map((choice) => wholeChoice(choice)),
    usage: usageOf(whole),
  };
}

/** The error of a response; undefined if it has none. */
export function errorOf({ status, body, sse }: RecordedResponse): RecordedError | undefined {
  const found = sse
    ? chunksOf(sse).find((chunk) => chunk['error'])
    : isJson(body)
      ? body
      : undefined;
  const inBand = status < 400;
  if (inBand && !found?.['error']) return undefined;
  const error = isJson(found?.['error']) ? found['error'] : (found ?? {});
  const code = error['code'] ?? error['type'];
  const message = [error['message'], error['detail'], error['error']].find(Boolean);
  const reported = [error['status_code'], error['code']].find(
    (value) => typeof value === 'number',
  ) as number | undefined;
  const known = inBand ? reported : status;
  return {
    status: known,
    code: typeof code === 'number' ? `${code}` : stringOf(code) || undefined,
    message: stringOf(message) || undefined,
    retryable:
      isPassing(known) && code !== 'insufficient_quota' && error['type'] !== 'insufficient_quota',
    inBand,
  };
}

function isPassing(status: number | undefined): boolean {
  return status !== undefined && ([408, 409, 425, 429].includes(status) || status >= 500);
}

/** A stream without finish reason and end marker. */
export function isCut({ sse }: RecordedResponse): boolean {
  if (!sse || sse.some((payload) => payload.startsWith('[DONE]'))) return false;
  return streamedAnswer(chunksOf(sse)).choices.some(
    ({ finishReason }) => finishReason === undefined,
  );
}

function wholeChoice({ message, finish_reason: reason }: Json): RecordedChoice {
  const fields = isJson(message) ? message : {};
  return {
    text: textOf(fields['content']),
    reasoning: reasoningOf(fields),
    refusal: stringOf(fields['refusal']),
    calls: jsonList(fields['tool_calls']).filter(isFunctionCall).map(callOf),
    finishReason: reasonOf(reason) || undefined,
  };
}

function streamedAnswer(chunks: readonly Json[]): RecordedAnswer {
  const parts = chunks.flatMap((chunk) => jsonList(chunk['choices']));
  const indexes = [...new Set(parts.map((part) => Number(part['index'] ?? 0)))].sort(
    (a, b) => a - b,
  );
  const choices = indexes.map((index) =>
    streamedChoice(parts.filter((part) => Number(part['index'] ?? 0) === index)),
  );
  return { choices, usage: chunks.map(usageOf).findLast((usage) => usage !== undefined) };
}

function streamedChoice(parts: readonly Json[]): RecordedChoice {
  const deltas = parts.map((part) => (isJson(part['delta']) ? part['delta'] : {}));
  const join = (read: (delta: Json) => string): string => deltas.map(read).join('');
  return {
    text: join((delta) => textOf(delta['content'])),
    reasoning: join(reasoningOf),
    refusal: join((delta) => stringOf(delta['refusal'])),
    calls: joinCalls(deltas.flatMap((delta) => jsonList(delta['tool_calls']))),
    finishReason: parts
      .map((part) => reasonOf(part['finish_reason']))
      .findLast((reason) => reason !== ''),
  };
}

/**
 * Joins pieces with the same index, or else the same id; a piece without both, or one that starts
 * again, is another call.
 */
function joinCalls(pieces: readonly Json[]): readonly RecordedCall[] {
  const groups: { readonly key: unknown; readonly calls: RecordedCall[] }[] = [];
  for (const piece of pieces.filter((one) => !one['type'] || one['type'] === 'function')) {
    const key = piece['index'] ?? (stringOf(piece['id']) || piece);
    const call = callOf(piece);
    const open = groups.findLast((group) => group.key === key);
    if (open && !startsAgain(open.calls, call)) open.calls.push(call);
    else groups.push({ key, calls: [call] });
  }
  return groups.map(({ calls }) => joined(calls));
}

function joined(calls: readonly RecordedCall[]): RecordedCall {
  return {
    id: calls.find((call) => call.id !== undefined)?.id,
    name: calls.find((call) => call.name !== '')?.name ?? '',
    arguments: calls.map((call) => call.arguments).join(''),
  };
}

function startsAgain(calls: readonly RecordedCall[], next: RecordedCall): boolean {
  const call = joined(calls);
  const another = next.id !== undefined && call.id !== undefined && next.id !== call.id;
  return (
    next.name !== '' &&
    (another || (call.arguments.endsWith('}') && next.arguments.startsWith('{')))
  );
}

function callOf({ id, function: called }: Json): RecordedCall {
  const { name, arguments: text } = isJson(called) ? called : {};
  return {
    id: stringOf(id) || undefined,
    name: stringOf(name),
    arguments: isJson(text) ? JSON.stringify(text) : stringOf(text),
  };
}

/** A call of a function, as opposed to a custom tool. */
export function isFunctionCall(call: Json): boolean {
  return isJson(call['function']);
}

/** The text of a content, without its thinking. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return jsonList(content)
    .map((part) => stringOf(part['text']))
    .join('');
}

function reasoningOf(message: Json): string {
  const thinking = jsonList(message['content']).map((part) => textOf(part['thinking']));
  const details = jsonList(message['reasoning_details']).map(
    (detail) => stringOf(detail['text']) || stringOf(detail['summary']),
  );
  return (
    stringOf(message['reasoning_content']) ||
    stringOf(message['reasoning']) ||
    details.join('') ||
    thinking.join('')
  );
}

function usageOf(body: Json): readonly [number, number] | undefined {
  const groq = isJson(body['x_groq']) ? body['x_groq']['usage'] : undefined;
  const choice = jsonList(body['choices'])[0]?.['usage'];
  const usage = [body['usage'], groq, choice].find(
    (one) => isJson(one) && Object.keys(one).length > 0,
  );
  if (!isJson(usage)) return undefined;
  return [
    Number(usage['prompt_tokens'] ?? usage['input_tokens'] ?? 0),
    Number(usage['completion_tokens'] ?? usage['output_tokens'] ?? 0),
  ];
}

function reasonOf(reason: unknown): string {
  return reason === 'null' ? '' : stringOf(reason);
}
