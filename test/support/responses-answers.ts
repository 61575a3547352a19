import type { Json } from './cassettes.js';

/** An answer of the Responses API with all that a message can hold, as a document. */
export const ITEMS = [
  {
    id: 'rs_1',
    type: 'reasoning',
    summary: [
      { type: 'summary_text', text: 'First.' },
      { type: 'summary_text', text: 'Second.' },
    ],
    encrypted_content: 'gAAA',
    status: null,
  },
  {
    id: 'ws_1',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'noon' },
  },
  {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    phase: 'commentary',
    content: [
      {
        type: 'output_text',
        text: 'Noon is near.',
        annotations: [{ type: 'url_citation', url: 'https://a.example', start_index: 0 }],
        logprobs: [{ token: 'Noon', logprob: -0.1 }],
      },
    ],
  },
  {
    id: 'fc_1',
    type: 'function_call',
    status: 'completed',
    arguments: '{"zone":"UTC"}',
    call_id: 'call_1',
    name: 'now',
    namespace: 'clock',
  },
] as const;

export const USAGE = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 7 },
  total_tokens: 50,
};

/** A response with items. */
export function responseOf(output: readonly unknown[], more: Json = {}): Json {
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'm-1',
    output,
    tools: [{ type: 'function', name: 'now' }],
    temperature: 1,
    service_tier: 'default',
    usage: USAGE,
    ...more,
  };
}

/** A message item with a text. */
export function messageOf(text: string, more: Json = {}): Json {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
    ...more,
  };
}

/** An event of the API. */
export type Event = Json & { readonly type: string };

const TYPES = {
  summary_text: ['response.reasoning_summary_text', 'summary_index', 'text'],
  reasoning_text: ['response.reasoning_text', 'content_index', 'text'],
  output_text: ['response.output_text', 'content_index', 'text'],
  refusal: ['response.refusal', 'content_index', 'refusal'],
} as const;

/** Events of an item: announced, in pieces of two letters, complete. */
export function eventsOf(item: Json, at: number): Event[] {
  const { summary = [], content = [], arguments: json, ...fields } = item;
  const where = { output_index: at, item_id: item['id'] };
  const empty = {
    ...fields,
    ...(json !== undefined && { arguments: '' }),
    summary: [],
    content: [],
  };
  const parts = [...(summary as Json[]), ...(content as Json[])].flatMap((part, index) => {
    const [name, position, field] = TYPES[part['type'] as keyof typeof TYPES];
    return piecesOf(name, { ...where, [position]: index }, String(part[field]), field);
  });
  const calls =
    typeof json === 'string'
      ? piecesOf('response.function_call_arguments', where, json, 'arguments')
      : [];
  return [
    { type: 'response.output_item.added', output_index: at, item: empty },
    ...parts,
    ...calls,
    { type: 'response.output_item.done', output_index: at, item },
  ];
}

function piecesOf(name: string, where: Json, text: string, field: string): Event[] {
  const pieces = text.match(/[^]{1,2}/g) ?? [];
  return [
    ...pieces.map((delta) => ({ type: `${name}.delta`, ...where, delta })),
    { type: `${name}.done`, ...where, [field]: text },
  ];
}

/** The whole stream of a response. */
export function streamOf(response: Json): Event[] {
  const { output, status, usage: _usage, ...rest } = response;
  const begun = { ...rest, output: [], status: 'in_progress', usage: null };
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...(output as Json[]).flatMap(eventsOf),
    { type: `response.${String(status)}`, response },
  ];
}
