import type { ToolDefinition } from '../../src/core/chat/tool-definition.js';
import type {
  AdvisorState,
  InspectedRequest,
  InspectedTurn,
  TimelineEntry,
  TurnSummary,
} from '../../src/bridges/inspector/inspected-turn.js';
import { CHAIN } from './inspected-chain.js';

export { CHAIN };

type Writable<T> = { -readonly [K in keyof T]: T[K] };
/** A part of a turn with its parts; ids are given by their order. */
type Part = Omit<TimelineEntry, 'id' | 'parent'> & { readonly parts?: readonly Part[] };

/** The entries of parts, in the order of their start. */
export function timelineOf(parts: readonly Part[]): readonly TimelineEntry[] {
  const entries: Writable<TimelineEntry>[] = [];
  const add = ({ parts: inner = [], ...own }: Part, parent?: number): void => {
    const id = entries.length + 1;
    entries.push({ id, ...(parent !== undefined && { parent }), ...own });
    for (const each of inner) add(each, id);
  };
  for (const part of parts) add(part);
  return entries;
}

const WEATHER: ToolDefinition = {
  name: 'get_weather',
  description: 'The weather in a city right now.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const TRAINS: ToolDefinition = {
  name: 'find_trains',
  description: 'Trains between two cities.',
  inputSchema: {
    type: 'object',
    properties: { from: { type: 'string' }, to: { type: 'string' } },
  },
};

const QUESTION =
  'What is the weather in Rome and in Oslo, and is there a train from Rome to Milan today?';
const ANSWER = 'Rome has 24 °C and sun, Oslo 3 °C and rain. A train to Milan leaves at 14:05.';
const CALLS = [
  { id: 'c1', name: 'get_weather', arguments: '{"city":"Rome"}' },
  { id: 'c2', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  { id: 'c3', name: 'find_trains', arguments: '{"from":"Rome","to":"Milan"}' },
];
const SYSTEM = { role: 'system', content: 'You answer in one sentence.' } as const;
const USER = { role: 'user', content: QUESTION } as const;
const ASKED = { role: 'assistant', content: null, toolCalls: CALLS } as const;
const RESULTS = ['{"temperature":24}', '{"temperature":3}', '{"trains":["14:05"]}'].map(
  (content, at) => ({
    role: 'tool' as const,
    toolCallId: `c${at + 1}`,
    toolName: CALLS[at]?.name ?? '',
    content,
  }),
);

const usage = (input: number, output: number, cached: number) => ({
  inputTokens: input,
  outputTokens: output,
  totalTokens: input + output,
  cachedInputTokens: cached,
});

const model = (start: number, end: number, more: Partial<TimelineEntry>): Part => ({
  kind: 'model-call',
  name: 'gpt-5-mini',
  start,
  end,
  outcome: 'ok',
  ...more,
});

/** Advisors around parts of an iteration, each within the one before. */
const within = (names: readonly string[], own: Omit<Part, 'kind' | 'name'>): Part => {
  const [name = '', ...rest] = names;
  const inner = rest.length > 0 ? [within(rest, own)] : (own.parts ?? []);
  return { ...own, kind: 'advisor', name, parts: inner };
};

const INNER = ['compaction', 'retry', 'prompt-cache', 'logger'];
const overload = {
  name: 'RateLimitError',
  message: 'The API answered with status 429: too many requests.',
  code: 'rate_limit',
  advisor: 'retry',
};

const LOOP: readonly Part[] = [
  within(INNER, {
    start: 12,
    end: 1_480,
    outcome: 'ok',
    iteration: 0,
    parts: [
      model(14, 320, { iteration: 0, firstToken: 210, outcome: 'error', error: overload }),
      { kind: 'retract', name: 'retry', start: 321, end: 321, iteration: 0 },
      { kind: 'wait', name: 'retry', start: 322, end: 830, iteration: 0 },
      {
        kind: 'retry',
        name: 'attempt 2 of 3',
        start: 830,
        end: 830,
        iteration: 0,
        error: overload,
      },
      model(831, 1_478, {
        iteration: 0,
        firstToken: 240,
        usage: usage(812, 96, 640),
        detail: { message: ASKED, finishReason: 'tool_calls' } as never,
      }),
    ],
  }),
  ...CALLS.map((call, at): Part => ({
    kind: 'tool-call',
    name: call.name,
    start: 1_482 + at,
    end: 1_600 + at * 130,
    outcome: 'ok',
    iteration: 0,
    detail: { arguments: JSON.parse(call.arguments) as never, result: RESULTS[at]?.content ?? '' },
  })),
  within(INNER, {
    start: 1_864,
    end: 2_610,
    outcome: 'ok',
    iteration: 1,
    parts: [
      model(1_866, 2_608, {
        iteration: 1,
        firstToken: 180,
        usage: usage(1_020, 44, 896),
        detail: { message: { role: 'assistant', content: ANSWER }, finishReason: 'stop' },
      }),
    ],
  }),
];

const OUTER = ['observability', 'guard', 'message-chat-memory', 'tool-search', 'tool-calling'];

const request = (
  iteration: number,
  attempt: number,
  more: Partial<InspectedRequest> = {},
): InspectedRequest => ({
  entry: 0,
  iteration,
  attempt,
  model: 'gpt-5-mini',
  messages: [SYSTEM, USER],
  tools: [WEATHER, TRAINS],
  options: { temperature: 0.2, maxTokens: 800 },
  steps: [
    { advisor: 'message-chat-memory', changes: [] },
    { advisor: 'tool-search', changes: [{ type: 'tool-added', tool: TRAINS }] },
  ],
  ...more,
});

/** A turn with three tools, a retry and a retract; other fields in its place. */
export function inspectedTurn(more: Partial<InspectedTurn> = {}): InspectedTurn {
  const timeline = timelineOf([
    within(OUTER, { start: 2, end: 2_618, outcome: 'ok', parts: LOOP }),
  ]);
  const calls = timeline.filter(({ kind }) => kind === 'model-call').map(({ id }) => id);
  return {
    id: 'trip',
    turnId: 'turn-7f3a',
    conversationId: 'anna-7',
    source: 'application',
    mode: 'stream',
    startedAt: Date.UTC(2026, 10, 27, 9, 30),
    duration: 2_620,
    outcome: 'answered',
    question: QUESTION,
    answer: ANSWER,
    model: 'gpt-5-mini',
    iterations: 2,
    toolCalls: 3,
    usage: usage(1_832, 140, 1_536),
    cost: 0.00094,
    firstToken: 224,
    revision: 40,
    chain: CHAIN,
    timeline,
    requests: [
      request(0, 1, { entry: calls[0] ?? 0 }),
      request(0, 2, { entry: calls[1] ?? 0, sincePrevious: [] }),
      request(1, 1, {
        entry: calls[2] ?? 0,
        messages: [SYSTEM, USER, ASKED, ...RESULTS],
        sincePrevious: [ASKED, ...RESULTS].map((message, at) => ({
          advisor: 'tool-calling',
          change: { type: 'message-added', at: at + 2, message },
        })),
        wire: {
          url: 'https://api.openai.com/v1/chat/completions',
          body: { model: 'gpt-5-mini', temperature: 0.2 },
        },
      }),
    ],
    questionText: QUESTION,
    answerText: ANSWER,
    ledger: [],
    stored: [],
    pending: [],
    isLive: true,
    isCut: false,
    ...more,
  };
}

/** The row of a turn. */
export function summaryOf(turn: InspectedTurn): TurnSummary {
  const { chain: _chain, timeline: _timeline, requests: _requests, ...rest } = turn;
  const { questionText: _question, answerText: _answer, reasoningText: _reasoning, ...more } = rest;
  const { ledger: _ledger, stored: _stored, pending: _pending, ...summary } = more;
  const { isLive: _live, isCut: _cut, ...row } = summary;
  return row;
}

export const STATES: readonly AdvisorState[] = [
  { advisor: 'message-chat-memory', state: { view: [USER as never], transcript: [USER as never] } },
  { advisor: 'tool-search', state: { unlocked: ['find_trains'], queries: [] } },
];
