import { messageOf } from '../../core/errors/error-type.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { describe } from '../../core/errors/describe.js';
import { parseJson, type JsonValue } from '../../core/internal/json.js';
import type { AdvisorState, ExportedTurns, InspectedTurn } from './inspected-turn.js';
import {
  anyOf,
  fields,
  flag,
  json,
  list,
  map,
  nothing,
  number,
  oneOf,
  text,
  type Shape,
} from './shape.js';

/** A turn of a file, with the states of its advisors. */
export interface ReadTurn {
  readonly turn: InspectedTurn;
  readonly states: readonly AdvisorState[];
  readonly bytes: number;
}

/**
 * Reads a file with turns.
 * @param file its text, or its data
 * @param maxBytes maximum number of bytes of its text, two for each character
 * @throws {@link InvalidArgumentError} if it is no such file
 */
export function readExport(file: unknown, maxBytes: number): readonly ReadTurn[] {
  const text = typeof file === 'string' ? file : toText(file);
  if (2 * text.length > maxBytes)
    throw invalid(`is larger than all turns may be together: ${maxBytes} bytes`);
  const data = parse(text);
  const { format, version } = (data ?? {}) as {
    readonly format?: unknown;
    readonly version?: unknown;
  };
  if (format !== 'advisor-chain/turns')
    throw invalid(`is none: its format must be "advisor-chain/turns", not ${describe(format)}`);
  if (version !== 1) throw invalid(`has the version ${describe(version)}, which is not known here`);
  const problem = FILE(data, '');
  if (problem !== undefined) throw invalid(`is broken: ${problem}`);
  const { turns, states } = data as unknown as ExportedTurns;
  return turns.map((turn) => ({
    turn,
    states: Object.hasOwn(states, turn.id) ? (states[turn.id] ?? []) : [],
    bytes: 2 * JSON.stringify(turn).length,
  }));
}

function toText(file: unknown): string {
  try {
    return JSON.stringify(file) ?? String(file);
  } catch (error) {
    throw invalid(`cannot be read: ${messageOf(error)}`);
  }
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalid(`is no JSON: ${messageOf(error)}`);
  }
}

function invalid(problem: string): InvalidArgumentError {
  return new InvalidArgumentError(`Inspector: the file with turns ${problem}`);
}

const call = fields({ name: text, arguments: text }, { id: text });
/** A part as a page shows it: its address may be hidden, and its content left out. */
const part = anyOf(
  fields({ type: oneOf('text'), text }),
  fields(
    { type: oneOf('image', 'audio', 'file', 'raw') },
    { url: text, data: text, mediaType: text, name: text },
  ),
);
const message = fields(
  {
    role: oneOf('system', 'user', 'assistant', 'tool'),
    content: anyOf(nothing, text, list(part)),
  },
  {
    toolCallId: text,
    toolName: text,
    toolCalls: list(call),
    reasoning: text,
    refusal: text,
    metadata: map(json),
  },
);

const named = fields({ name: text });
const error = fields({ name: text, message: text }, { code: text, advisor: text });
const usage = fields(
  { inputTokens: number, outputTokens: number, totalTokens: number },
  { cachedInputTokens: number, cacheWriteTokens: number, reasoningTokens: number },
);
const tool = fields({ name: text }, { description: text });
const outcome = oneOf('running', 'answered', 'failed', 'paused', 'cancelled');

const advisor = fields(
  {
    name: text,
    order: number,
    place: oneOf('turn', 'loop', 'iteration', 'tool'),
    aroundToolCalls: flag,
    traits: list(text),
    options: map(json),
    warnings: list(text),
  },
  { role: text },
);

const KINDS = 'advisor model-call tool-call retrieval wait retry retract pause event limit'.split(
  ' ',
);

const entry = fields(
  {
    id: number,
    kind: oneOf(...KINDS),
    name: text,
    start: number,
  },
  {
    parent: number,
    end: number,
    outcome: oneOf('ok', 'error', 'refused', 'cancelled'),
    error,
    iteration: number,
    isReplayed: flag,
    firstToken: number,
    usage,
    cost: number,
    detail: json,
  },
);

const ofType = (
  types: readonly string[],
  required: Readonly<Record<string, Shape>>,
  optional = {},
) => fields({ type: oneOf(...types), ...required }, optional);

const change = anyOf(
  ofType(['message-added', 'message-removed'], { at: number, message }),
  ofType(['message-changed'], { at: number, before: message, after: message }),
  ofType(['tool-added', 'tool-removed'], { tool }),
  ofType(['tool-changed'], { before: tool, after: tool }),
  ofType(['option-changed'], { name: text }, { before: json, after: json }),
  ofType(['model-changed'], {}, { before: text, after: text }),
);

const request = fields(
  {
    messages: list(message),
    tools: list(tool),
    options: map(json),
    entry: number,
    iteration: number,
    attempt: number,
    steps: list(fields({ advisor: text, changes: list(change) })),
  },
  {
    model: text,
    wire: fields({ body: json }, { url: text }),
    sincePrevious: list(fields({ advisor: text, change })),
  },
);

const turn = fields(
  {
    id: text,
    turnId: text,
    source: oneOf('application', 'page', 'file'),
    mode: oneOf('call', 'stream'),
    startedAt: number,
    outcome,
    question: text,
    answer: text,
    iterations: number,
    toolCalls: number,
    revision: number,
    chain: fields(
      { advisors: list(advisor), options: json, tools: list(named), warnings: list(text) },
      { model: fields({}, { name: text, provider: text }) },
    ),
    timeline: list(entry),
    requests: list(request),
    questionText: text,
    answerText: text,
    ledger: list(
      fields(
        { kind: text, attempt: number, outcome: text },
        { model: text, usage, iteration: number, cost: number },
      ),
    ),
    stored: list(fields({ conversationId: text, messages: list(message) })),
    pending: list(fields({ type: text, id: text, toolName: text, callId: text, prompt: text })),
    isLive: flag,
    isCut: flag,
  },
  {
    conversationId: text,
    duration: number,
    isWaiting: flag,
    error,
    model: text,
    usage,
    cost: number,
    firstToken: number,
    reasoningText: text,
  },
);

const FILE = fields({
  turns: list(turn),
  states: map(list(fields({ advisor: text, state: map(json) }))),
});
