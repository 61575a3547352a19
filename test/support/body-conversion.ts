import {
  chunksOf,
  isJson,
  jsonList,
  stringOf,
  type Json,
  type RecordedResponse,
} from './cassettes.js';
import { isCut } from './recorded-answer.js';

/**
 * A recorded answer in the other mode: a JSON body as a stream, a stream as a JSON body. Errors and
 * incomplete streams stay unchanged.
 */
export function inOtherMode(response: RecordedResponse): RecordedResponse {
  if (response.status >= 400 || isCut(response)) return response;
  const { status, headers = {} } = response;
  if (response.sse)
    return { status, headers, contentType: 'application/json', body: toBody(response.sse) };
  if (!isJson(response.body) || !Array.isArray(response.body['choices'])) return response;
  return { status, headers, contentType: 'text/event-stream', sse: toPayloads(response.body) };
}

/**
 * A completion as a server would stream it: role, then the message in pieces, then the finish
 * reason, then usage.
 */
export function toPayloads(body: Json): readonly string[] {
  const { choices, usage, object: _object, ...fields } = body;
  const chunk = (choice: readonly Json[], more: Json = {}): string =>
    JSON.stringify({ ...fields, object: 'chat.completion.chunk', choices: choice, ...more });
  const streamed = jsonList(choices).flatMap((choice) =>
    choiceChunks(choice).map((piece) => chunk([piece])),
  );
  return [...streamed, ...(isJson(usage) ? [chunk([], { usage })] : []), '[DONE]'];
}

function choiceChunks({ index, message, finish_reason: reason, ...fields }: Json): readonly Json[] {
  const deltas = [{ role: 'assistant' }, ...(isJson(message) ? messageDeltas(message) : [])];
  return [
    ...deltas.map((delta) => ({ index, delta, finish_reason: null })),
    { index, delta: {}, finish_reason: reason, ...fields },
  ];
}

/**
 * Fields other than texts and calls come in one delta; a short form of the reasoning comes together
 * with its details.
 */
function messageDeltas({
  role: _role,
  content,
  reasoning_content: thought,
  tool_calls: calls,
  refusal,
  ...fields
}: Json): readonly Json[] {
  const pieces = (name: string, value: unknown): readonly Json[] =>
    typeof value === 'string' ? halves(value).map((text) => ({ [name]: text })) : [];
  const { reasoning, ...others } = fields;
  const spoken = fields['reasoning_details']
    ? [fields]
    : [...pieces('reasoning', reasoning), ...(Object.keys(others).length > 0 ? [others] : [])];
  return [
    ...pieces('reasoning_content', thought),
    ...spoken,
    ...(Array.isArray(content)
      ? content.map((part: unknown) => ({ content: [part] }))
      : pieces('content', content)),
    ...pieces('refusal', refusal),
    ...jsonList(calls)
      .flatMap((call, index) => callPieces(call, index))
      .map((call) => ({ tool_calls: [call] })),
  ];
}

function callPieces(call: Json, index: number): readonly Json[] {
  const called = call['function'];
  if (!isJson(called) || typeof called['arguments'] !== 'string') return [{ ...call, index }];
  const [start, ...rest] = halves(called['arguments']);
  return [
    { ...call, index, function: { ...called, arguments: start ?? '' } },
    ...rest.map((text) => ({ index, function: { arguments: text } })),
  ];
}

/** A text in two pieces; a surrogate pair may well be torn apart, as servers do. */
function halves(text: string): readonly string[] {
  const middle = text.length >> 1;
  return text.length < 2 ? [text] : [text.slice(0, middle), text.slice(middle)];
}

/** A stream as the body that the server would have sent at once. */
export function toBody(payloads: readonly string[]): Json {
  const chunks = chunksOf(payloads);
  const first = chunks.find((chunk) => typeof chunk['id'] === 'string' && chunk['id'] !== '') ?? {};
  const parts = chunks.flatMap((chunk) => jsonList(chunk['choices']));
  const indexes = [...new Set(parts.map((part) => Number(part['index'] ?? 0)))].sort(
    (a, b) => a - b,
  );
  const error = chunks.find((chunk) => chunk['error'])?.['error'];
  return {
    ...(first['id'] !== undefined && { id: first['id'] }),
    object: 'chat.completion',
    model: chunks.map((chunk) => chunk['model']).find(Boolean),
    choices: indexes.map((index) =>
      toChoice(
        index,
        parts.filter((part) => Number(part['index'] ?? 0) === index),
      ),
    ),
    usage: chunks.map((chunk) => chunk['usage'] ?? groqUsage(chunk)).findLast(Boolean),
    ...(error !== undefined && { error }),
  };
}

function groqUsage(chunk: Json): unknown {
  return isJson(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined;
}

function toChoice(index: number, parts: readonly Json[]): Json {
  const message: Record<string, unknown> = { role: 'assistant', content: null };
  for (const part of parts) if (isJson(part['delta'])) addDelta(message, part['delta']);
  return {
    index,
    message,
    finish_reason: parts.map((part) => part['finish_reason']).findLast(Boolean) ?? null,
  };
}

const GLUED: ReadonlySet<string> = new Set([
  'content',
  'reasoning',
  'reasoning_content',
  'refusal',
]);

function addDelta(message: Record<string, unknown>, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || name === 'role' || name === 'index') continue;
    if (name === 'tool_calls') message[name] = addCalls(jsonList(message[name]), jsonList(value));
    else if (name === 'reasoning_details')
      message[name] = jsonList(value).reduce(addDetail, [...jsonList(message[name])]);
    else if (Array.isArray(value))
      message[name] = mergeParts([...jsonList(message[name]), ...jsonList(value)]);
    else if (GLUED.has(name) && Array.isArray(message[name])) {
      if (value !== '')
        message[name] = mergeParts([...jsonList(message[name]), { type: 'text', text: value }]);
    } else if (GLUED.has(name) && typeof message[name] === 'string')
      message[name] = message[name] + stringOf(value);
    else message[name] = value;
  }
}

function addCalls(calls: readonly Json[], pieces: readonly Json[]): readonly Json[] {
  return pieces.reduce<readonly Json[]>((list, piece) => {
    const goesOn = (call: Json): boolean =>
      call['index'] === piece['index'] && (!piece['id'] || call['id'] === piece['id']);
    const at = piece['index'] === undefined ? -1 : list.findLastIndex(goesOn);
    const before = list[at];
    if (!before) return [...list, piece];
    const called = isJson(before['function']) ? before['function'] : {};
    const more = isJson(piece['function']) ? piece['function'] : {};
    const args = stringOf(called['arguments']) + stringOf(more['arguments']);
    return list.with(at, {
      ...before,
      function: { ...called, name: called['name'] || more['name'], arguments: args },
    });
  }, calls);
}

function addDetail(details: Json[], piece: Json): Json[] {
  const at = details.findLastIndex(
    (detail) => detail['type'] === piece['type'] && detail['index'] === piece['index'],
  );
  const before = details[at];
  if (!before) return [...details, piece];
  const entries = Object.entries(piece).filter(([, value]) => value !== null);
  const grown = entries.map(([name, value]) =>
    ['text', 'summary', 'data'].includes(name)
      ? [name, stringOf(before[name]) + stringOf(value)]
      : [name, value],
  );
  return details.with(at, { ...before, ...Object.fromEntries(grown) } as Json);
}

/** Neighbours of one type as one part. */
function mergeParts(parts: readonly Json[]): readonly Json[] {
  return parts.reduce<readonly Json[]>((merged, part) => {
    const last = merged.at(-1);
    if (last?.['type'] === 'text' && part['type'] === 'text')
      return merged.with(-1, {
        type: 'text',
        text: stringOf(last['text']) + stringOf(part['text']),
      });
    if (last?.['type'] === 'thinking' && part['type'] === 'thinking')
      return merged.with(-1, {
        ...last,
        ...part,
        thinking: mergeParts([...jsonList(last['thinking']), ...jsonList(part['thinking'])]),
      });
    return [...merged, part];
  }, []);
}
