import { textOf } from '../../src/core/chat/message.js';
import type { PendingRequest } from '../../src/core/chat/paused-turn.js';
import type {
  AdvisorState,
  InspectedTurn,
  TimelineEntry,
  TurnSummary,
} from '../../src/bridges/inspector/inspected-turn.js';
import { CHAIN } from './inspected-chain.js';
import {
  ASKED,
  CALLS,
  EARLIER,
  QUESTION,
  requestsOf,
  RESULTS,
  SUMMARY,
} from './inspector-requests.js';

// Turns of an inspector as data, for tests of its page.

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

const ANSWER = 'Rome has 24 °C and sun. A train to Milan leaves at 14:05.';
const ANSWERED = { role: 'assistant', content: ANSWER } as const;

const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  ...(cachedInputTokens > 0 && { cachedInputTokens }),
});
const [FIRST_USAGE, SECOND_USAGE] = [usage(812, 96, 640), usage(1_020, 44, 896)];

const model = (name: string, start: number, end: number, more: Partial<TimelineEntry>): Part => ({
  kind: 'model-call',
  name,
  start,
  end,
  outcome: 'ok',
  ...more,
});

/** Advisors around parts of a turn, each within the one before. */
const within = (names: readonly string[], own: Omit<Part, 'kind' | 'name'>): Part => {
  const [name = '', ...rest] = names;
  const inner = rest.length > 0 ? [within(rest, own)] : (own.parts ?? []);
  return { ...own, kind: 'advisor', name, parts: inner };
};
const OUTER = ['observability', 'guard', 'chat-memory', 'tool-search', 'tool-calling'];
const INNER = ['compaction', 'retry', 'prompt-cache', 'logger'];

const error = {
  name: 'RateLimitError',
  message: 'The API answered with status 429: too many requests.',
  code: 'rate_limit',
  advisor: 'retry',
};
const again = { kind: 'retry', name: 'attempt 2 of 3', error } as const;

const LOOP: readonly Part[] = [
  within(INNER, {
    start: 12,
    end: 1_064,
    outcome: 'ok',
    iteration: 0,
    parts: [
      model('gpt-5-mini', 14, 1_062, {
        iteration: 0,
        firstToken: 240,
        usage: FIRST_USAGE,
        detail: { message: ASKED, finishReason: 'tool_calls' } as never,
      }),
    ],
  }),
  ...CALLS.map((call, at): Part => ({
    kind: 'tool-call',
    name: call.name,
    start: 1_066 + at,
    end: 1_184 + at * 130,
    outcome: at === 1 ? 'error' : 'ok',
    iteration: 0,
    detail: {
      arguments: JSON.parse(call.arguments) as never,
      result: textOf(RESULTS[at]?.content ?? null),
    },
  })),
  within(INNER, {
    start: 1_448,
    end: 2_616,
    outcome: 'ok',
    iteration: 1,
    parts: [
      model('gpt-5-mini', 1_450, 1_756, { iteration: 1, firstToken: 210, outcome: 'error', error }),
      { kind: 'retract', name: 'retry', start: 1_757, end: 1_757, iteration: 1 },
      { kind: 'wait', name: 'retry', start: 1_758, end: 2_266, iteration: 1 },
      { ...again, start: 2_266, end: 2_266, iteration: 1 },
      model('claude-haiku-5', 2_267, 2_614, {
        iteration: 1,
        firstToken: 180,
        usage: SECOND_USAGE,
        detail: { message: ANSWERED, finishReason: 'stop' },
      }),
    ],
  }),
];

const LEDGER: InspectedTurn['ledger'] = [
  {
    kind: 'embedding',
    model: 'text-embedding-3-small',
    iteration: undefined,
    attempt: 1,
    usage: usage(18, 0),
    cost: 0.00001,
    outcome: 'answered',
  },
  {
    kind: 'chat',
    model: 'gpt-5-mini',
    iteration: 0,
    attempt: 1,
    usage: FIRST_USAGE,
    cost: 0.00038,
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
    usage: SECOND_USAGE,
    cost: 0.00055,
    outcome: 'answered',
    isReplayed: true,
  },
];

/** A turn with three tools, a retry, a retract and changes of its requests; other fields in its place. */
export function inspectedTurn(more: Partial<InspectedTurn> = {}): InspectedTurn {
  const timeline = timelineOf([
    within(OUTER, { start: 2, end: 2_618, outcome: 'ok', parts: LOOP }),
  ]);
  const calls = timeline.filter(({ kind }) => kind === 'model-call').map(({ id }) => id);
  const question = textOf(QUESTION.content);
  return {
    id: 'trip',
    turnId: 'turn-7f3a',
    conversationId: 'anna-7',
    source: 'application',
    mode: 'stream',
    startedAt: Date.UTC(2026, 10, 27, 9, 30),
    duration: 2_620,
    outcome: 'answered',
    question,
    answer: ANSWER,
    model: 'claude-haiku-5',
    iterations: 2,
    toolCalls: 3,
    usage: usage(1_850, 140, 1_536),
    cost: 0.00094,
    firstToken: 254,
    revision: 40,
    chain: CHAIN,
    timeline,
    requests: requestsOf(calls),
    questionText: question,
    answerText: ANSWER,
    ledger: LEDGER,
    stored: [{ conversationId: 'anna-7', messages: [QUESTION, ANSWERED] }],
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

const hidden = 'Rua das Flores 7\u202e, Lisboa';

/** Requests of all kinds that wait for a decision. */
export const PENDING: readonly PendingRequest[] = [
  {
    type: 'approval',
    id: 'request-1',
    toolName: 'book_hotel',
    callId: 'c4',
    arguments: { nights: 2, address: hidden },
    argumentsText: JSON.stringify({ nights: 2, address: hidden }),
    hiddenText: 'U+202E',
    prompt: 'Book two nights for 139 EUR?',
    risk: 'high',
    details: { price: '139 EUR' },
    effect: 'write',
    scopes: ['once', 'conversation'],
    fingerprint: 'f1',
  },
  {
    type: 'question',
    id: 'request-2',
    toolName: 'ask_user',
    callId: 'c5',
    prompt: 'Which room do you need, and how many?',
    schema: {
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['S', 'M', 'L'], description: 'Size of the room' },
        count: { type: 'integer', minimum: 1, maximum: 9, default: 1 },
        gift: { type: 'boolean', title: 'It is a gift' },
        note: { type: 'string' },
      },
      required: ['size', 'count'],
    },
  },
  {
    type: 'client-tool',
    id: 'request-3',
    toolName: 'read_clipboard',
    callId: 'c6',
    arguments: {},
    prompt: 'Run read_clipboard in the client',
  },
];

/** States of advisors, one of them unknown to the page. */
export const STATES: readonly AdvisorState[] = [
  {
    advisor: 'chat-memory',
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
    state: {
      onLimit: 'answer',
      cost: 0.41,
      limits: [{ limit: 'cost', option: 'maxCost', value: 2, spent: 0.41, remaining: 1.59 }],
      accounts: ['anna', 'team'].map((name) => ({
        name,
        limits: [
          { limit: 'tokens', option: `${name}.maxTokens`, value: 900, spent: 9, remaining: 891 },
        ],
      })),
    },
  },
  { advisor: 'weather-cache', state: { entries: 12, oldest: '2026-11-27T09:00:00Z' } },
];

/** Turns of a page: one with all parts, one that has failed, one that waits for decisions. */
export const ANSWERED_TURN = inspectedTurn();
export const FAILED_TURN = inspectedTurn({
  id: 'hotel',
  startedAt: ANSWERED_TURN.startedAt - 60_000,
  question: 'Book a hotel in Milan',
  questionText: 'Book a hotel in Milan',
  answer: '',
  answerText: '',
  conversationId: 'bert-2',
  outcome: 'failed',
  duration: 900,
  cost: 0.2,
  error: { name: 'ToolError', message: 'The hotel does not answer', advisor: 'retry' },
});
export const PAUSED_TURN = inspectedTurn({
  id: 'payment',
  startedAt: ANSWERED_TURN.startedAt - 120_000,
  question: 'Pay the bill',
  outcome: 'paused',
  pending: PENDING,
});
