// The formats of the wires, as their servers write them: a text in pieces, or a call of a tool, streamed or as one document.

export const CALL = { name: 'get_weather', arguments: { city: 'Zürich' } };
const INPUT = JSON.stringify(CALL.arguments);

const data = (payload) => `data: ${JSON.stringify(payload)}\n\n`;
const typed = (payload) => `event: ${payload.type}\n${data(payload)}`;
const line = (payload) => `${JSON.stringify(payload)}\n`;

const EVENTS = 'text/event-stream';

const tokens = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 };
const openaiCall = {
  id: 'call_1',
  type: 'function',
  function: { name: CALL.name, arguments: INPUT },
};
const completionChunk = (delta, finish_reason = null) =>
  data({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });

const completions = {
  entry: 'openai',
  model: 'OpenAIChatModel',
  path: '/chat/completions',
  type: EVENTS,
  /** The text of an event, as a loop by hand reads it. */
  textOf: (event) => event.choices[0]?.delta.content ?? '',
  streamed: ({ pieces }) => [
    ...(pieces
      ? pieces.map((content) => completionChunk({ content }))
      : [completionChunk({ tool_calls: [{ index: 0, ...openaiCall }] })]),
    completionChunk({}, pieces ? 'stop' : 'tool_calls'),
    'data: [DONE]\n\n',
  ],
  document: ({ pieces }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message: pieces
          ? { role: 'assistant', content: pieces.join('') }
          : { role: 'assistant', content: null, tool_calls: [openaiCall] },
        finish_reason: pieces ? 'stop' : 'tool_calls',
      },
    ],
    usage: tokens,
  }),
};

const responsesItem = ({ pieces }) =>
  pieces
    ? {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: pieces.join(''), annotations: [] }],
      }
    : {
        id: 'fc_1',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: CALL.name,
        arguments: INPUT,
      };
const responsesDocument = (answer) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'm',
  output: [responsesItem(answer)],
  usage: { input_tokens: 9, output_tokens: 7, total_tokens: 16 },
});
function responsesEvents(answer) {
  const { pieces = [] } = answer;
  const item = responsesItem(answer);
  const [content, argument] = answer.pieces ? [{ content: [] }] : [{}, { arguments: '' }];
  const at = { output_index: 0, item_id: item.id, content_index: 0 };
  const response = responsesDocument(answer);
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: begun },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, ...content, ...argument },
    },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ];
  return events.map((event, sequence_number) => typed({ ...event, sequence_number }));
}

const responses = {
  entry: 'openai',
  model: 'OpenAIResponsesModel',
  path: '/responses',
  type: EVENTS,
  textOf: (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
  streamed: responsesEvents,
  document: responsesDocument,
};

const message = (fields) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  ...fields,
});
const toolUse = { type: 'tool_use', id: 'toolu_1', name: CALL.name };
const block = (type, fields) => typed({ type: `content_block_${type}`, index: 0, ...fields });

const messages = {
  entry: 'anthropic',
  model: 'AnthropicChatModel',
  path: '/v1/messages',
  type: EVENTS,
  textOf: (event) => (event.type === 'content_block_delta' ? (event.delta.text ?? '') : ''),
  streamed: ({ pieces }) => [
    typed({
      type: 'message_start',
      message: message({
        content: [],
        stop_reason: null,
        usage: { input_tokens: 9, output_tokens: 1 },
      }),
    }),
    block('start', {
      content_block: pieces ? { type: 'text', text: '' } : { ...toolUse, input: {} },
    }),
    ...(pieces
      ? pieces.map((text) => block('delta', { delta: { type: 'text_delta', text } }))
      : [block('delta', { delta: { type: 'input_json_delta', partial_json: INPUT } })]),
    block('stop', {}),
    typed({
      type: 'message_delta',
      delta: { stop_reason: pieces ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 7 },
    }),
    typed({ type: 'message_stop' }),
  ],
  document: ({ pieces }) =>
    message({
      content: [
        pieces ? { type: 'text', text: pieces.join('') } : { ...toolUse, input: CALL.arguments },
      ],
      stop_reason: pieces ? 'end_turn' : 'tool_use',
      usage: { input_tokens: 9, output_tokens: 7 },
    }),
};

const candidate = (parts, more) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
  modelVersion: 'm',
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 7, totalTokenCount: 16 },
});
const partsOf = ({ pieces }) =>
  pieces
    ? pieces.map((text) => ({ text }))
    : [{ functionCall: { name: CALL.name, args: CALL.arguments } }];

const generateContent = {
  entry: 'google',
  model: 'GoogleChatModel',
  path: '/v1beta/models/m:streamGenerateContent?alt=sse',
  callPath: '/v1beta/models/m:generateContent',
  type: EVENTS,
  textOf: (event) => event.candidates[0].content.parts[0]?.text ?? '',
  streamed: (answer) => [
    ...partsOf(answer).map((part) => data(candidate([part]))),
    data(candidate([], { finishReason: 'STOP' })),
  ],
  document: (answer) => candidate(partsOf(answer), { finishReason: 'STOP' }),
};

const cohereDelta = (type, fields) => typed({ type, index: 0, delta: { message: fields } });
const cohereUsage = { tokens: { input_tokens: 9, output_tokens: 7 } };

const cohere = {
  entry: 'cohere',
  model: 'CohereChatModel',
  path: '/v2/chat',
  type: EVENTS,
  textOf: (event) => (event.type === 'content-delta' ? event.delta.message.content.text : ''),
  streamed: ({ pieces }) => [
    typed({ type: 'message-start', id: 'm_1', delta: { message: { role: 'assistant' } } }),
    ...(pieces
      ? [
          cohereDelta('content-start', { content: { type: 'text', text: '' } }),
          ...pieces.map((text) => cohereDelta('content-delta', { content: { text } })),
          typed({ type: 'content-end', index: 0 }),
        ]
      : [
          cohereDelta('tool-call-start', { tool_calls: openaiCall }),
          typed({ type: 'tool-call-end', index: 0 }),
        ]),
    typed({
      type: 'message-end',
      delta: { finish_reason: pieces ? 'COMPLETE' : 'TOOL_CALL', usage: cohereUsage },
    }),
  ],
  document: ({ pieces }) => ({
    id: 'm_1',
    message: pieces
      ? { role: 'assistant', content: [{ type: 'text', text: pieces.join('') }] }
      : { role: 'assistant', tool_calls: [openaiCall] },
    finish_reason: pieces ? 'COMPLETE' : 'TOOL_CALL',
    usage: cohereUsage,
  }),
};

const ollamaPiece = (fields, more = { done: false }) => ({
  model: 'm',
  created_at: '2026-01-01T00:00:00Z',
  message: { role: 'assistant', content: '', ...fields },
  ...more,
});
const ollamaEnd = { done: true, done_reason: 'stop', prompt_eval_count: 9, eval_count: 7 };

const ollama = {
  entry: 'ollama',
  model: 'OllamaChatModel',
  path: '/api/chat',
  type: 'application/x-ndjson',
  textOf: (event) => event.message.content,
  streamed: ({ pieces }) => [
    ...(pieces
      ? pieces.map((content) => line(ollamaPiece({ content })))
      : [line(ollamaPiece({ tool_calls: [{ function: CALL }] }))]),
    line(ollamaPiece({}, ollamaEnd)),
  ],
  document: ({ pieces }) =>
    ollamaPiece(
      pieces ? { content: pieces.join('') } : { tool_calls: [{ function: CALL }] },
      ollamaEnd,
    ),
};

/** Every wire by its name, which begins the path on the server. */
export const WIRES = { completions, responses, messages, generateContent, cohere, ollama };
