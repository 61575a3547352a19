import { CALL, CHAT_WIRES, TEXT, type ChatWire } from './chat-wires.js';

/** The second of two calls in one answer. */
export const OTHER_CALL = { name: CALL.name, arguments: { zone: 'CET' } };
/** Tokens of an answer that reports its usage. */
export const TOKENS = { inputTokens: 7, outputTokens: 5, totalTokens: 12 };

/** Streams of a wire that its faults are about. */
export interface WireStreams {
  /** Two calls, in turns where the wire can do so; the finish reason does not mention calls. */
  readonly parallel: readonly string[];
  /** Events without content, to be passed over wherever they come. */
  readonly noise: readonly string[];
  /** A text whose usage comes as often as the wire can report it. */
  readonly usage: readonly string[];
}

const data = (payload: unknown): string =>
  `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;
const typed = (payload: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${payload.type}\n${data(payload)}`;
const line = (payload: unknown): string => `${JSON.stringify(payload)}\n`;
/** The arguments of both calls in two pieces each. */
const [ONE, TWO] = [CALL, OTHER_CALL].map(({ arguments: input }) => {
  const text = JSON.stringify(input);
  return [text.slice(0, 5), text.slice(5)] as const;
}) as [readonly [string, string], readonly [string, string]];
const COMMENT = ': keep-alive\n\n';

const chunk = (delta: object, reason: string | null = null, more: object = {}): string =>
  data({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: reason }], ...more });
const fragment = (index: number, fields: object): string =>
  chunk({ tool_calls: [{ index, ...fields }] });
const start = (index: number, id: string): string =>
  fragment(index, { id, type: 'function', function: { name: CALL.name, arguments: '' } });
const input = (index: number, text: string): string =>
  fragment(index, { function: { arguments: text } });
const completionUsage = (output: number): object => ({
  usage: { prompt_tokens: 7, completion_tokens: output, total_tokens: 7 + output },
});

const completions: WireStreams = {
  parallel: [
    start(0, 'a') + start(1, 'b'),
    input(0, ONE[0]) + input(1, TWO[0]),
    input(1, TWO[1]) + input(0, ONE[1]),
    chunk({}, 'stop'),
    data('[DONE]'),
  ],
  noise: [COMMENT, data({ id: 'c', model: 'm', choices: [] }), chunk({}), chunk({ content: '' })],
  usage: [
    chunk({ role: 'assistant', content: TEXT }, null, completionUsage(1)),
    chunk({}, 'stop', completionUsage(5)),
    data({ id: 'c', model: 'm', choices: [], ...completionUsage(5) }),
    data('[DONE]'),
  ],
};

const item = (kind: 'added' | 'done', output_index: number, fields: object): string =>
  typed({ type: `response.output_item.${kind}`, output_index, item: fields });
const functionCall = (at: number, text: string): object => ({
  id: `fc_${at}`,
  type: 'function_call',
  call_id: `call_${at}`,
  name: CALL.name,
  arguments: text,
});
const argumentsDelta = (output_index: number, delta: string): string =>
  typed({
    type: 'response.function_call_arguments.delta',
    item_id: `fc_${output_index}`,
    output_index,
    delta,
  });
const responseOf = (status: string, output: readonly object[], more: object = {}): object => ({
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status,
  error: null,
  output,
  ...more,
});
const created = typed({ type: 'response.created', response: responseOf('in_progress', []) });
const calls = [functionCall(0, ONE.join('')), functionCall(1, TWO.join(''))];
const outputText = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: TEXT, annotations: [] }],
};

const responses: WireStreams = {
  parallel: [
    created,
    item('added', 0, functionCall(0, '')) + item('added', 1, functionCall(1, '')),
    argumentsDelta(0, ONE[0]) + argumentsDelta(1, TWO[0]),
    argumentsDelta(1, TWO[1]) + argumentsDelta(0, ONE[1]),
    calls.map((call, at) => item('done', at, call)).join(''),
    typed({ type: 'response.completed', response: responseOf('completed', calls) }),
  ],
  noise: [
    COMMENT,
    typed({ type: 'response.in_progress', response: responseOf('in_progress', []) }),
    typed({ type: 'response.event_of_the_future', output_index: 0, delta: 'x' }),
  ],
  usage: [
    created,
    item('added', 0, { ...outputText, content: [] }),
    typed({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: TEXT,
    }),
    item('done', 0, outputText),
    typed({
      type: 'response.completed',
      response: responseOf('completed', [outputText], {
        usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
      }),
    }),
  ],
};

const block = (kind: string, index: number, fields: object = {}): string =>
  typed({ type: `content_block_${kind}`, index, ...fields });
const toolUse = (index: number): string =>
  block('start', index, {
    content_block: { type: 'tool_use', id: `toolu_${index}`, name: CALL.name, input: {} },
  });
const inputDelta = (index: number, partial_json: string): string =>
  block('delta', index, { delta: { type: 'input_json_delta', partial_json } });
const messageStart = typed({
  type: 'message_start',
  message: {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 7, output_tokens: 1 },
  },
});
const messageEnd = [2, 5].map((output_tokens) =>
  typed({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens },
  }),
);
const messageStop = typed({ type: 'message_stop' });

const messages: WireStreams = {
  parallel: [
    messageStart,
    toolUse(0) + toolUse(1),
    inputDelta(0, ONE[0]) + inputDelta(1, TWO[0]),
    inputDelta(1, TWO[1]) + inputDelta(0, ONE[1]),
    block('stop', 0) + block('stop', 1),
    ...messageEnd,
    messageStop,
  ],
  noise: [COMMENT, typed({ type: 'ping' }), typed({ type: 'event_of_the_future', index: 0 })],
  usage: [
    messageStart,
    block('start', 0, { content_block: { type: 'text', text: '' } }),
    block('delta', 0, { delta: { type: 'text_delta', text: TEXT } }),
    block('stop', 0),
    ...messageEnd,
    messageStop,
  ],
};

const candidate = (parts: readonly object[], more: object = {}, usage?: number): string =>
  data({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
    modelVersion: 'm',
    ...(usage && {
      usageMetadata: {
        promptTokenCount: 7,
        candidatesTokenCount: usage,
        totalTokenCount: 7 + usage,
      },
    }),
  });
const functionPart = (call: typeof CALL): object => ({
  functionCall: { name: call.name, args: call.arguments },
});

const generateContent: WireStreams = {
  parallel: [
    candidate([functionPart(CALL)]),
    candidate([functionPart(OTHER_CALL)]),
    candidate([], { finishReason: 'STOP' }),
  ],
  noise: [COMMENT, candidate([]), candidate([{ text: '' }]), data({ modelVersion: 'm' })],
  usage: [candidate([{ text: TEXT }], {}, 2), candidate([], { finishReason: 'STOP' }, 5)],
};

const cohereDelta = (type: string, index: number, message: object): string =>
  typed({ type, index, delta: { message } });
const cohereCall = (index: number): string =>
  cohereDelta('tool-call-start', index, {
    tool_calls: {
      id: `call_${index}`,
      type: 'function',
      function: { name: CALL.name, arguments: '' },
    },
  });
const cohereInput = (index: number, text: string): string =>
  cohereDelta('tool-call-delta', index, { tool_calls: { function: { arguments: text } } });
const cohereEnd = typed({
  type: 'message-end',
  delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 7, output_tokens: 5 } } },
});

const cohere: WireStreams = {
  parallel: [
    cohereDelta('message-start', 0, { role: 'assistant' }),
    cohereCall(0) + cohereCall(1),
    cohereInput(0, ONE[0]) + cohereInput(1, TWO[0]),
    cohereInput(1, TWO[1]) + cohereInput(0, ONE[1]),
    typed({ type: 'tool-call-end', index: 0 }) + typed({ type: 'tool-call-end', index: 1 }),
    cohereEnd,
  ],
  noise: [COMMENT, typed({ type: 'event-of-the-future', index: 0, delta: {} })],
  usage: [
    cohereDelta('message-start', 0, { role: 'assistant' }),
    cohereDelta('content-start', 0, { content: { type: 'text', text: TEXT } }),
    cohereDelta('content-end', 0, {}),
    cohereEnd,
  ],
};

const piece = (message: object, more: object = {}): string =>
  line({
    model: 'm',
    message: { role: 'assistant', content: '', ...message },
    done: false,
    ...more,
  });
const ollamaEnd = { done: true, done_reason: 'stop', prompt_eval_count: 7, eval_count: 5 };

const ollama: WireStreams = {
  parallel: [
    piece({ tool_calls: [{ function: CALL }] }),
    piece({ tool_calls: [{ function: OTHER_CALL }] }),
    piece({}, ollamaEnd),
  ],
  noise: ['\n', piece({}), piece({}, { field_of_the_future: 1 })],
  usage: [piece({ content: TEXT }), piece({}, ollamaEnd)],
};

const STREAMS: Readonly<Record<string, WireStreams>> = {
  'chat.completions': completions,
  responses,
  messages,
  generateContent,
  'cohere.chat.v2': cohere,
  'ollama.chat': ollama,
};

/** Each wire with its streams. */
export const WIRE_STREAMS: readonly (readonly [wire: ChatWire, streams: WireStreams])[] =
  CHAT_WIRES.map((wire) => [wire, STREAMS[wire.api] as WireStreams]);
