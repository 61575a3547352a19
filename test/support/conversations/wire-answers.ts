/** An answer of a server: a text, and calls whose ids and names may be anything. */
export interface WireAnswer {
  readonly text: string;
  readonly calls: readonly WireCall[];
}

/** A call as a server sends it; without an id if it is undefined. */
export interface WireCall {
  readonly id: string | undefined;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Answers of an API: a document, or the pieces of a stream. */
export interface AnswerFormat {
  readonly document: (answer: WireAnswer) => object;
  readonly pieces: (answer: WireAnswer) => readonly string[];
}

const data = (payload: unknown): string =>
  `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;
const typed = (type: string, fields: object): string =>
  `event: ${type}\n${data({ type, ...fields })}`;
const line = (payload: unknown): string => `${JSON.stringify(payload)}\n`;
/** The halves of a text: a cut may divide a pair of surrogates. */
const halves = (text: string): readonly string[] => {
  const at = Math.ceil(text.length / 2);
  return [text.slice(0, at), text.slice(at)].filter((half) => half !== '');
};
const inputOf = ({ input }: WireCall): string => JSON.stringify(input);

const functionOf = (call: WireCall): object => ({
  ...(call.id !== undefined && { id: call.id }),
  type: 'function',
  function: { name: call.name, arguments: inputOf(call) },
});
const reasonOf = ({ calls }: WireAnswer): string => (calls.length > 0 ? 'tool_calls' : 'stop');
const chunk = (delta: object, reason: string | null = null): string =>
  data({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] });

const completions: AnswerFormat = {
  document: (answer) => ({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: reasonOf(answer),
        message: {
          role: 'assistant',
          content: answer.text,
          ...(answer.calls.length > 0 && { tool_calls: answer.calls.map(functionOf) }),
        },
      },
    ],
  }),
  pieces: (answer) => [
    chunk({ role: 'assistant', content: '' }),
    ...halves(answer.text).map((content) => chunk({ content })),
    ...answer.calls.map((call, index) => chunk({ tool_calls: [{ index, ...functionOf(call) }] })),
    chunk({}, reasonOf(answer)),
    data('[DONE]'),
  ],
};

const itemsOf = ({ text, calls }: WireAnswer): readonly object[] => [
  ...(text
    ? [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]
    : []),
  ...calls.map((call, at) => ({
    id: `fc_${at}`,
    type: 'function_call',
    ...(call.id !== undefined && { call_id: call.id }),
    name: call.name,
    arguments: inputOf(call),
  })),
];
const responseOf = (status: string, output: readonly object[]): object => ({
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status,
  error: null,
  output,
});

const responses: AnswerFormat = {
  document: (answer) => responseOf('completed', itemsOf(answer)),
  pieces: (answer) => [
    typed('response.created', { response: responseOf('in_progress', []) }),
    ...halves(answer.text).map((delta) =>
      typed('response.output_text.delta', {
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta,
      }),
    ),
    ...itemsOf(answer).map((item, output_index) =>
      typed('response.output_item.done', { output_index, item }),
    ),
    typed('response.completed', { response: responseOf('completed', itemsOf(answer)) }),
  ],
};

const blocksOf = ({ text, calls }: WireAnswer): readonly object[] => [
  ...(text ? [{ type: 'text', text }] : []),
  ...calls.map(({ id, name, input }) => ({
    type: 'tool_use',
    ...(id !== undefined && { id }),
    name,
    input,
  })),
];
const stopOf = ({ calls }: WireAnswer): string => (calls.length > 0 ? 'tool_use' : 'end_turn');
const messageOf = (content: readonly object[], stop_reason: string | null): object => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason,
  usage: { input_tokens: 3, output_tokens: 5 },
});

const messages: AnswerFormat = {
  document: (answer) => messageOf(blocksOf(answer), stopOf(answer)),
  pieces: (answer) => [
    typed('message_start', { message: messageOf([], null) }),
    ...blocksOf(answer).map((block, index) => {
      const isText = 'text' in block;
      const start = isText ? { type: 'text', text: '' } : { ...block, input: {} };
      const deltas = isText
        ? halves(answer.text).map((text) => ({ type: 'text_delta', text }))
        : [
            {
              type: 'input_json_delta',
              partial_json: JSON.stringify((block as { readonly input?: unknown }).input),
            },
          ];
      return [
        typed('content_block_start', { index, content_block: start }),
        ...deltas.map((delta) => typed('content_block_delta', { index, delta })),
        typed('content_block_stop', { index }),
      ].join('');
    }),
    typed('message_delta', {
      delta: { stop_reason: stopOf(answer), stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    typed('message_stop', {}),
  ],
};

const candidate = (parts: readonly object[], finishReason?: string): object => ({
  candidates: [
    { index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) },
  ],
  modelVersion: 'm',
});
const partsOf = ({ calls }: WireAnswer): readonly object[] =>
  calls.map(({ id, name, input }) => ({
    functionCall: { ...(id !== undefined && { id }), name, args: input },
  }));

const generateContent: AnswerFormat = {
  document: (answer) =>
    candidate([...(answer.text ? [{ text: answer.text }] : []), ...partsOf(answer)], 'STOP'),
  pieces: (answer) => [
    ...halves(answer.text).map((text) => data(candidate([{ text }]))),
    ...partsOf(answer).map((part) => data(candidate([part]))),
    data(candidate([], 'STOP')),
  ],
};

const cohereReason = ({ calls }: WireAnswer): string =>
  calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE';

const cohere: AnswerFormat = {
  document: (answer) => ({
    finish_reason: cohereReason(answer),
    message: {
      role: 'assistant',
      ...(answer.text && { content: [{ type: 'text', text: answer.text }] }),
      ...(answer.calls.length > 0 && { tool_calls: answer.calls.map(functionOf) }),
    },
  }),
  pieces: (answer) => [
    typed('message-start', { delta: { message: { role: 'assistant' } } }),
    ...halves(answer.text).map((text) =>
      typed('content-delta', { index: 0, delta: { message: { content: { text } } } }),
    ),
    ...answer.calls.map((call, index) =>
      typed('tool-call-start', { index, delta: { message: { tool_calls: functionOf(call) } } }),
    ),
    typed('message-end', { delta: { finish_reason: cohereReason(answer) } }),
  ],
};

const ollamaPiece = (message: object, more: object = { done: false }): object => ({
  model: 'm',
  message: { role: 'assistant', content: '', ...message },
  ...more,
});
const ollamaCalls = ({ calls }: WireAnswer): object =>
  calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(({ id, name, input }) => ({
          ...(id !== undefined && { id }),
          function: { name, arguments: input },
        })),
      };
const END = { done: true, done_reason: 'stop' };

const ollama: AnswerFormat = {
  document: (answer) => ollamaPiece({ content: answer.text, ...ollamaCalls(answer) }, END),
  pieces: (answer) => [
    ...halves(answer.text).map((content) => line(ollamaPiece({ content }))),
    ...(answer.calls.length > 0 ? [line(ollamaPiece(ollamaCalls(answer)))] : []),
    line(ollamaPiece({}, END)),
  ],
};

/** Formats by the `api` of a wire. */
export const ANSWERS: Readonly<Record<string, AnswerFormat>> = {
  'chat.completions': completions,
  responses,
  messages,
  generateContent,
  'cohere.chat.v2': cohere,
  'ollama.chat': ollama,
};
