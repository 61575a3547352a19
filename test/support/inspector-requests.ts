import { textOf, type Message } from '../../src/core/chat/message.js';
import type { ToolDefinition } from '../../src/core/chat/tool-definition.js';
import type {
  AdvisorChanges,
  InspectedRequest,
  NamedChange,
  RequestChange,
} from '../../src/bridges/inspector/inspected-turn.js';

const SYSTEM: Message = { role: 'system', content: 'You answer in one sentence.' };
const PRIVATE: Message = {
  role: 'user',
  content: 'My name is Anna Gray, my phone number is +49 170 5550199.',
};
const MASKED: Message = {
  role: 'user',
  content: 'My name is [name], my phone number is [phone number].',
};
/** The messages of the conversation before the turn. */
export const EARLIER: readonly Message[] = [
  { role: 'user', content: 'Do you book trains too?' },
  { role: 'assistant', content: 'Yes, in all of Italy.' },
  PRIVATE,
  { role: 'assistant', content: 'Thank you, Anna. How can I help?' },
];
export const QUESTION: Message = {
  role: 'user',
  content:
    'What is the weather in Rome and in Oslo, and is there a train from Rome to Milan today?',
};
export const CALLS = [
  { id: 'c1', name: 'get_weather', arguments: '{"city":"Rome"}' },
  { id: 'c2', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  { id: 'c3', name: 'find_trains', arguments: '{"from":"Rome","to":"Milan"}' },
];
export const ASKED: Message = {
  role: 'assistant',
  content: null,
  reasoning: 'The user asks for three things: I look them up at once.',
  toolCalls: CALLS,
};
const OUTPUTS = [
  '{"temperature":24,"hours":[{"at":9,"mm":2},{"at":12,"mm":0.4}]}',
  'The station of Oslo does not answer: try again.',
  '{"trains":["14:05"]}',
];
export const RESULTS: readonly Message[] = CALLS.map(({ id, name }, at) => ({
  role: 'tool',
  toolCallId: id,
  toolName: name,
  content: OUTPUTS[at] ?? '',
  ...(at === 1 && { isError: true }),
}));
const STEERING: Message = { role: 'user', content: 'The user has added: first class only.' };
export const SUMMARY: Message = {
  role: 'system',
  content: 'Earlier in this conversation: [name] asked for trains, and left a phone number.',
};

const tool = (
  name: string,
  description: string,
  properties: Record<string, unknown>,
): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
});
const text = { type: 'string' };
const TOOLS: readonly ToolDefinition[] = [
  { ...tool('get_weather', 'The weather in a city right now.', { city: text }), strict: true },
  tool('find_trains', 'Trains between two cities.', { from: text, to: text, class: { enum: [1, 2] } }), // prettier-ignore
];
const SEARCH = tool('search_tools', 'Finds further tools by what they do.', { query: text });

const places =
  (type: 'message-added' | 'message-removed') =>
  (at: number, ...messages: readonly Message[]): readonly RequestChange[] =>
    messages.map((message, index) => ({ type, at: at + index, message }));
const [added, removed] = [places('message-added'), places('message-removed')];

const [MODEL, OTHER_MODEL] = ['gpt-5-mini', 'claude-haiku-5'];
const OPTIONS = { temperature: 0.2, maxTokens: 800, metadata: { shop: 'rome', tags: ['a', 'b'] } };
const HISTORY = [SYSTEM, ...EARLIER.map((each) => (each === PRIVATE ? MASKED : each))];
const SENT = [...HISTORY, QUESTION];
const COMPACTED = [SUMMARY, QUESTION, ASKED, ...RESULTS, STEERING];

const BEFORE_LOOP: readonly AdvisorChanges[] = [
  { advisor: 'chat-memory', changes: added(1, ...EARLIER) },
  {
    advisor: 'guard',
    changes: [{ type: 'message-changed', at: 3, before: PRIVATE, after: MASKED }],
  },
  { advisor: 'tool-search', changes: [{ type: 'tool-added', tool: SEARCH }] },
];
const DEFAULTS: AdvisorChanges = {
  advisor: 'defaults',
  changes: [{ type: 'option-changed', name: 'temperature', before: 1, after: 0.2 }],
};
const COMPACTION: AdvisorChanges = {
  advisor: 'compaction',
  changes: [...removed(0, ...HISTORY), ...added(0, SUMMARY)],
};
const FALLBACK: AdvisorChanges = {
  advisor: 'fallback',
  changes: [{ type: 'model-changed', before: MODEL, after: OTHER_MODEL }],
};
const SECOND: readonly AdvisorChanges[] = [
  ...BEFORE_LOOP,
  { advisor: 'tool-calling', changes: added(6, ASKED, ...RESULTS) },
  { advisor: 'steering', changes: added(10, STEERING) },
  COMPACTION,
  DEFAULTS,
];

const named = (steps: readonly AdvisorChanges[]): readonly NamedChange[] =>
  steps.flatMap(({ advisor, changes }) => changes.map((change) => ({ advisor, change })));

/** The requests of a turn with changes of all kinds: one iteration, and two attempts of another. */
export function requestsOf(entries: readonly number[]): readonly InspectedRequest[] {
  const call = { model: MODEL, tools: [...TOOLS, SEARCH], options: OPTIONS };
  const again = { ...call, iteration: 1, messages: COMPACTED };
  const requests: readonly Omit<InspectedRequest, 'entry'>[] = [
    {
      ...call,
      iteration: 0,
      attempt: 1,
      messages: SENT,
      steps: [
        ...BEFORE_LOOP,
        { advisor: 'tool-calling', changes: [] },
        { advisor: 'retry', changes: [] },
        DEFAULTS,
      ],
      wire: {
        url: 'https://api.openai.com/v1/chat/completions',
        body: {
          model: MODEL,
          messages: SENT.map(({ role, content }) => ({ role, content: textOf(content) })),
        },
      },
    },
    {
      ...again,
      attempt: 1,
      steps: SECOND,
      sincePrevious: named([
        { advisor: 'tool-calling', changes: added(2, ASKED, ...RESULTS) },
        { advisor: 'steering', changes: added(6, STEERING) },
        COMPACTION,
      ]),
    },
    {
      ...again,
      model: OTHER_MODEL,
      attempt: 2,
      steps: [...SECOND, FALLBACK],
      sincePrevious: named([FALLBACK]),
    },
  ];
  return requests.map((request, at) => ({ ...request, entry: entries[at] ?? 0 }));
}
