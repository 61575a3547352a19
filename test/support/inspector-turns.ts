import { textOf, type Message } from '../../src/core/chat/message.js';
import type { PendingRequest } from '../../src/core/chat/paused-turn.js';
import type { ToolDefinition } from '../../src/core/chat/tool-definition.js';
import type {
  AdvisorState,
  InspectedAdvisor,
  InspectedChain,
  InspectedRequest,
  InspectedTurn,
} from '../../src/bridges/inspector/inspected-turn.js';

// A turn with changes of all kinds, for tests of the views of the page.

export const SYSTEM: Message = {
  role: 'system',
  content: 'You help customers of a bicycle shop. Answer in one short paragraph.',
};
export const EARLIER: readonly Message[] = [
  { role: 'user', content: 'Do you repair electric bikes?' },
  { role: 'assistant', content: 'Yes, of all makes, from Tuesday to Saturday.' },
  { role: 'user', content: 'My name is Anna Gray, my phone number is +49 170 5550199.' },
  { role: 'assistant', content: 'Thank you, Anna. How can I help?' },
];
export const QUESTION: Message = {
  role: 'user',
  content: 'What is the weather in Lisbon tomorrow, and do you have a rain cape in my size?',
};
const MASKED: Message = {
  role: 'user',
  content: 'My name is [name], my phone number is [phone number].',
};
const CALLS: Message = {
  role: 'assistant',
  content: null,
  reasoning: 'The user asks for two things: I look both up at once.',
  toolCalls: [
    { id: 'call_1', name: 'get_weather', arguments: '{"city":"Lisbon","day":"tomorrow"}' },
    { id: 'call_2', name: 'find_product', arguments: '{"query":"rain cape","size":"M"}' },
  ],
};
const RESULTS: readonly Message[] = [
  {
    role: 'tool',
    toolCallId: 'call_1',
    toolName: 'get_weather',
    content:
      '{"city":"Lisbon","sky":"rain","high":17,"low":11,"hours":[{"at":9,"mm":2},{"at":12,"mm":0.4}]}',
  },
  {
    role: 'tool',
    toolCallId: 'call_2',
    toolName: 'find_product',
    isError: true,
    content: 'The catalogue does not answer: try again.',
  },
];
const STEERING: Message = {
  role: 'user',
  content: 'The customer has added: the cape must be yellow.',
};
const SUMMARY: Message = {
  role: 'system',
  content: 'Earlier in this conversation: [name] asked about repairs, and left a phone number.',
};

const object = (properties: Record<string, unknown>): ToolDefinition['inputSchema'] => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
export const TOOLS: readonly ToolDefinition[] = [
  {
    name: 'get_weather',
    description: 'The weather of a city on a day.',
    inputSchema: object({ city: { type: 'string' }, day: { type: 'string' } }),
    strict: true,
  },
  {
    name: 'find_product',
    description: 'Searches the catalogue of the shop.',
    inputSchema: object({ query: { type: 'string' }, size: { enum: ['S', 'M', 'L'] } }),
  },
];
const SEARCH: ToolDefinition = {
  name: 'search_tools',
  description: 'Finds further tools by what they do.',
  inputSchema: object({ query: { type: 'string' } }),
};

/** The requests of two iterations, the second with two attempts: the first of them fails. */
export function requests(): readonly InspectedRequest[] {
  const [first, second, third, fourth] = EARLIER as [Message, Message, Message, Message];
  const sent = [SYSTEM, first, second, MASKED, fourth, QUESTION];
  const steps: InspectedRequest['steps'] = [
    {
      advisor: 'memory',
      changes: EARLIER.map((message, at) => ({ type: 'message-added', at: at + 1, message })),
    },
    {
      advisor: 'guard',
      changes: [{ type: 'message-changed', at: 3, before: third, after: MASKED }],
    },
    { advisor: 'tool-search', changes: [{ type: 'tool-added', tool: SEARCH }] },
    { advisor: 'tool-calling', changes: [] },
    { advisor: 'retry', changes: [] },
    {
      advisor: 'defaults',
      changes: [{ type: 'option-changed', name: 'temperature', before: 1, after: 0.2 }],
    },
  ];
  const tools = [...TOOLS, SEARCH];
  const options = {
    temperature: 0.2,
    maxTokens: 400,
    metadata: { shop: 'lisbon', tags: ['a', 'b'] },
  };
  const model = 'gpt-5-mini';
  const call = { model, tools, options };
  const again = [SUMMARY, QUESTION, CALLS, ...RESULTS, STEERING];
  const compacted: InspectedRequest['steps'] = [
    ...steps.slice(0, 3),
    {
      advisor: 'tool-calling',
      changes: [CALLS, ...RESULTS].map((message, at) => ({
        type: 'message-added' as const,
        at: at + 6,
        message,
      })),
    },
    { advisor: 'steering', changes: [{ type: 'message-added', at: 9, message: STEERING }] },
    {
      advisor: 'compaction',
      changes: [
        ...[SYSTEM, first, second, MASKED, fourth].map((message, at) => ({
          type: 'message-removed' as const,
          at,
          message,
        })),
        { type: 'message-added', at: 0, message: SUMMARY },
      ],
    },
    ...steps.slice(5),
  ];
  const since: InspectedRequest['sincePrevious'] = [
    ...[CALLS, ...RESULTS].map((message, at) => ({
      advisor: 'tool-calling',
      change: { type: 'message-added' as const, at: at + 2, message },
    })),
    { advisor: 'steering', change: { type: 'message-added', at: 5, message: STEERING } },
    ...[SYSTEM, first, second, MASKED, fourth].map((message, at) => ({
      advisor: 'compaction',
      change: { type: 'message-removed' as const, at, message },
    })),
    { advisor: 'compaction', change: { type: 'message-added', at: 0, message: SUMMARY } },
  ];
  return [
    {
      ...call,
      entry: 3,
      iteration: 0,
      attempt: 1,
      messages: sent,
      steps,
      wire: wireOf(model, sent),
    },
    {
      ...call,
      entry: 8,
      iteration: 1,
      attempt: 1,
      messages: again,
      steps: compacted,
      sincePrevious: since,
    },
    {
      ...call,
      model: 'claude-haiku-5',
      entry: 10,
      iteration: 1,
      attempt: 2,
      messages: again,
      steps: [
        ...compacted,
        {
          advisor: 'fallback',
          changes: [{ type: 'model-changed', before: model, after: 'claude-haiku-5' }],
        },
      ],
      sincePrevious: [
        {
          advisor: 'fallback',
          change: { type: 'model-changed', before: model, after: 'claude-haiku-5' },
        },
      ],
    },
  ];
}

function wireOf(
  model: string,
  messages: readonly Message[],
): NonNullable<InspectedRequest['wire']> {
  const body = {
    model,
    temperature: 0.2,
    max_completion_tokens: 400,
    messages: messages.map(({ role, content }) => ({ role, content: textOf(content) })),
  };
  return { url: 'https://api.openai.com/v1/chat/completions', body };
}

const advisor = (
  name: string,
  order: number,
  place: InspectedAdvisor['place'],
  options: InspectedAdvisor['options'] = {},
): InspectedAdvisor => ({
  name,
  order,
  place,
  aroundToolCalls: name === 'approval',
  traits: [],
  options,
  warnings: [],
});

/** The chain of {@link inspectedTurn}. */
export const CHAIN: InspectedChain = {
  advisors: [
    advisor('guard', 200, 'turn', { rules: ['phone number', 'name'], onMatch: 'mask' }),
    advisor('memory', 300, 'turn', { window: 20 }),
    advisor('tool-search', 400, 'turn', { limit: 5 }),
    advisor('tool-calling', 500, 'loop', { maxIterations: 25 }),
    advisor('approval', 550, 'tool', { tools: ['order_product'] }),
    advisor('compaction', 620, 'iteration', { maxTokens: 8_000 }),
    advisor('retry', 700, 'iteration', { attempts: 3 }),
  ],
  model: { name: 'gpt-5-mini', provider: 'openai' },
  options: { temperature: 0.2, maxTokens: 400 },
  tools: [
    { name: 'get_weather', isDeferred: false },
    { name: 'find_product', isDeferred: true },
  ],
  warnings: [],
};

/** A turn that is answered, with fields of one's own in place of others. */
export function inspectedTurn(fields: Partial<InspectedTurn> = {}): InspectedTurn {
  return {
    id: 'turn-1',
    turnId: 'turn-1',
    conversationId: 'anna-7',
    source: 'application',
    mode: 'stream',
    startedAt: Date.UTC(2026, 10, 27, 9, 30),
    duration: 4_210,
    outcome: 'answered',
    question: 'What is the weather in Lisbon tomorrow, and do you have a rain cape in my size?',
    answer: 'It rains in Lisbon tomorrow. A yellow cape in M is in stock.',
    model: 'claude-haiku-5',
    iterations: 2,
    toolCalls: 2,
    usage: { inputTokens: 4_120, outputTokens: 262, totalTokens: 4_382, cachedInputTokens: 2_048 },
    cost: 0.00213,
    firstToken: 820,
    revision: 7,
    chain: CHAIN,
    timeline: [],
    requests: requests(),
    questionText: 'What is the weather in Lisbon tomorrow, and do you have a rain cape in my size?',
    answerText: 'It rains in Lisbon tomorrow. A yellow cape in M is in stock.',
    ledger: [
      {
        kind: 'embedding',
        model: 'text-embedding-3-small',
        iteration: undefined,
        attempt: 1,
        usage: { inputTokens: 18, outputTokens: 0, totalTokens: 18 },
        outcome: 'answered',
      },
      {
        kind: 'chat',
        model: 'gpt-5-mini',
        iteration: 0,
        attempt: 1,
        usage: {
          inputTokens: 1_980,
          outputTokens: 74,
          totalTokens: 2_054,
          cachedInputTokens: 1_024,
        },
        outcome: 'answered',
      },
      {
        kind: 'chat',
        model: 'gpt-5-mini',
        iteration: 1,
        attempt: 1,
        usage: undefined,
        outcome: 'failed',
      },
      {
        kind: 'chat',
        model: 'claude-haiku-5',
        iteration: 1,
        attempt: 2,
        usage: {
          inputTokens: 2_122,
          outputTokens: 188,
          totalTokens: 2_310,
          cachedInputTokens: 1_024,
        },
        outcome: 'answered',
        isReplayed: true,
      },
    ],
    stored: [
      {
        conversationId: 'anna-7',
        messages: [
          QUESTION,
          {
            role: 'assistant',
            content: 'It rains in Lisbon tomorrow. A yellow cape in M is in stock.',
          },
        ],
      },
    ],
    pending: [],
    isLive: true,
    isCut: false,
    ...fields,
  };
}

/** Requests of all kinds that wait for a decision. */
export const PENDING: readonly PendingRequest[] = [
  {
    type: 'approval',
    id: 'request-1',
    toolName: 'order_product',
    callId: 'call_3',
    arguments: { product: 'cape-yellow-m', count: 1, address: 'Rua das Flores 7\u202e, Lisboa' },
    argumentsText:
      '{"product":"cape-yellow-m","count":1,"address":"Rua das Flores 7\u202e, Lisboa"}',
    hiddenText: 'U+202E',
    prompt: 'Order one yellow rain cape in M for 39 EUR?',
    risk: 'high',
    details: { price: '39 EUR' },
    effect: 'write',
    scopes: ['once', 'conversation'],
    fingerprint: 'f1',
  },
  {
    type: 'question',
    id: 'request-2',
    toolName: 'ask_user',
    callId: 'call_4',
    prompt: 'Which size do you need, and how many?',
    schema: {
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['S', 'M', 'L'], description: 'Size of the cape' },
        count: { type: 'integer', minimum: 1, maximum: 9, default: 1 },
        gift: { type: 'boolean', title: 'Wrap it as a gift' },
        note: { type: 'string' },
      },
      required: ['size', 'count'],
    },
  },
  {
    type: 'client-tool',
    id: 'request-3',
    toolName: 'read_clipboard',
    callId: 'call_5',
    arguments: {},
    prompt: 'Run read_clipboard in the client',
  },
];

/** States of advisors, one of them unknown to the page. */
export const STATES: readonly AdvisorState[] = [
  {
    advisor: 'memory',
    state: {
      conversationId: 'anna-7',
      view: [SUMMARY, ...EARLIER.slice(2)] as never,
      transcript: [...EARLIER, QUESTION] as never,
    },
  },
  {
    advisor: 'tool-search',
    state: {
      searches: [
        {
          query: 'order something',
          hits: [
            { name: 'order_product', score: 0.91, matches: ['order'] },
            { name: 'list_orders', score: 0.64, matches: ['order', 'something'] },
          ],
        },
        { query: 'fly', hits: [] },
      ],
      discovered: ['order_product', 'list_orders'],
      categories: [],
    },
  },
  {
    advisor: 'durable',
    state: {
      isReplaying: false,
      steps: [
        { step: 'model 0', end: 'replayed' },
        { step: 'tool order_product', end: 'recorded', wasInterrupted: true },
      ],
    },
  },
  {
    advisor: 'budget',
    state: { budgets: [{ name: 'anna-7', spent: 0.41, limit: 2, unit: 'EUR' }] },
  },
  { advisor: 'weather-cache', state: { entries: 12, oldest: '2026-11-27T09:00:00Z' } },
];
