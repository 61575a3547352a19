import type { Json } from './cassettes.js';
import { Random } from './random.js';
import { sendEvents, sendJson, WireServer, type Exchange } from './wire-server.js';
import { sendTypedEvents } from './wire-answers.js';

/** Ways in which the server fails, besides answers that are wrong in themselves. */
const FAILURES = ['429', '500', 'cut', 'stall', 'overflow', 'bad JSON'] as const;

/** Behaviours of the server. */
export type Behaviour = (typeof FAILURES)[number] | 'answer' | 'calls' | 'refusal';

interface Answer {
  readonly text?: string | undefined;
  readonly refusal?: string | undefined;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly input: number;
  readonly output: number;
}

/** Probability of a failure, and of tool calls in an answer. */
const [FAILS, CALLS] = [0.22, 0.55];
/** A number that a guard has to find. */
export const CARD = '4111 1111 1111 1111';

/**
 * A server that speaks the wires of OpenAI and Anthropic, and fails at random: in the same way for
 * the same seed, turn and number of the request in its turn.
 */
export class ChaosServer {
  /** Number of times that each behaviour occurred. */
  readonly behaviours: Partial<Record<Behaviour, number>> = {};
  /** Number of stalls of each turn. */
  readonly stalls = new Map<number, number>();
  /** Tokens of the whole answers to each turn. */
  readonly tokens = new Map<number, number>();
  /** Bodies of all requests, by turn. */
  readonly bodies = new Map<number, Json[]>();

  private constructor(
    private readonly seed: number,
    private readonly server: WireServer,
  ) {}

  static async start(seed: number): Promise<ChaosServer> {
    const chaos: ChaosServer = new ChaosServer(
      seed,
      await WireServer.start((exchange) => chaos.respond(exchange)),
    );
    return chaos;
  }

  get root(): string {
    return this.server.baseURL.replace(/\/v1$/, '');
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private respond(exchange: Exchange): void {
    const turn = turnOf(exchange.body);
    const bodies = this.bodies.get(turn) ?? [];
    this.bodies.set(turn, [...bodies, exchange.body]);
    const random = new Random(this.seed ^ (turn * 1009 + bodies.length * 9176));
    for (let warmUp = 0; warmUp < 4; warmUp++) random.next();
    const names = toolNames(exchange.body);
    const behaviour: Behaviour = random.chance(FAILS)
      ? random.pick(FAILURES)
      : random.chance(0.03)
        ? 'refusal'
        : names.length > 0 && random.chance(CALLS)
          ? 'calls'
          : 'answer';
    this.behaviours[behaviour] = (this.behaviours[behaviour] ?? 0) + 1;
    const answer = answerOf(behaviour, random, turn, names, exchange.body);
    const wire = WIRES[exchange.path.endsWith('/messages') ? 'anthropic' : 'openai'];
    const isStream = exchange.body['stream'] === true;
    switch (behaviour) {
      case '429':
        return sendJson(exchange, wire.error('Slow down'), 429, { 'retry-after-ms': '1' });
      case '500':
        return sendJson(exchange, wire.error('Internal error'), 500);
      case 'overflow':
        return sendJson(exchange, wire.overflow, 400);
      case 'stall':
        this.stalls.set(turn, (this.stalls.get(turn) ?? 0) + 1);
        if (isStream) exchange.response.writeHead(200, EVENTS).flushHeaders();
        return;
      case 'cut':
        if (isStream) this.charge(turn, wire.tokensAtStart(answer));
        return this.cut(exchange, wire, answer, isStream);
      case 'bad JSON':
        return isStream
          ? sendEvents(exchange, ['{"choices": [', '[DONE]'])
          : void exchange.response.writeHead(200, JSON_TYPE).end('{"id": ');
      default:
        this.charge(turn, answer.input + answer.output);
        return isStream
          ? wire.send(exchange, wire.events(answer))
          : sendJson(exchange, wire.document(answer));
    }
  }

  private charge(turn: number, tokens: number): void {
    this.tokens.set(turn, (this.tokens.get(turn) ?? 0) + tokens);
  }

  private cut(exchange: Exchange, wire: Wire, answer: Answer, isStream: boolean): void {
    const { response, socket } = exchange;
    if (!isStream) {
      response.writeHead(200, JSON_TYPE);
      response.write(JSON.stringify(wire.document(answer)).slice(0, 40), () => socket.destroy());
      return;
    }
    response.writeHead(200, EVENTS);
    const [first] = wire.events(answer);
    response.write(wire.encode(first ?? {}), () => socket.destroy());
  }
}

const EVENTS = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** The turn that asked: the questions of a conversation are numbered. */
function turnOf(body: Json): number {
  const all = [...JSON.stringify(body['messages']).matchAll(/turn (\d+)/g)];
  return Math.max(...all.map(([, turn]) => Number(turn)));
}

function toolNames(body: Json): readonly string[] {
  const tools = (body['tools'] ?? []) as readonly (Json & { function?: { name: string } })[];
  if (body['tool_choice'] === 'none') return [];
  return tools.map((tool) => tool.function?.name ?? String(tool['name']));
}

function answerOf(
  behaviour: Behaviour,
  random: Random,
  turn: number,
  names: readonly string[],
  body: Json,
): Answer {
  const usage = { input: 100 + random.below(900), output: 1 + random.below(99) };
  if (behaviour === 'refusal') return { refusal: 'I cannot help with that.', calls: [], ...usage };
  if (behaviour === 'calls') {
    const calls = Array.from({ length: 1 + random.below(3) }, (_, at) => ({
      id: `call_${turn}_${random.below(2 ** 30)}_${at}`,
      name: random.chance(0.05) ? 'no_such_tool' : random.pick(names),
      input: random.chance(0.05)
        ? '{"query": '
        : JSON.stringify({ query: random.pick(['look', 'book', 'big']), n: random.below(1000) }),
    }));
    const text = random.chance(0.3) ? `Let me look. ${CARD} is yours.` : undefined;
    return { text, calls, ...usage };
  }
  const asksForJson = JSON.stringify(body).includes('answer_of_turn');
  const text = random.chance(0.3) ? `Done, with ${CARD}, and thanks.` : `Done with turn ${turn}.`;
  const json = random.chance(0.4)
    ? '{"answer_of_turn": "no number"}'
    : `{"answer_of_turn":${turn}}`;
  return { text: asksForJson ? json : text, calls: [], ...usage };
}

/** A wire: its documents, events and errors. */
interface Wire {
  readonly document: (answer: Answer) => Json;
  readonly events: (answer: Answer) => readonly Json[];
  readonly send: (exchange: Exchange, events: readonly Json[]) => void;
  readonly encode: (event: Json) => string;
  readonly error: (message: string) => Json;
  readonly overflow: Json;
  /** Tokens that the first event of a stream reports. */
  readonly tokensAtStart: (answer: Answer) => number;
}

const reasonOf = ({ calls }: Answer): string => (calls.length > 0 ? 'tool_calls' : 'stop');
/** Pieces of 1 to 7 characters. */
const piecesOf = (text: string): readonly string[] => text.match(/.{1,7}/gs) ?? [];

const openai: Wire = {
  document: (answer) => ({
    id: 'c',
    model: 'main',
    choices: [
      {
        index: 0,
        finish_reason: reasonOf(answer),
        message: {
          role: 'assistant',
          content: answer.text ?? null,
          ...(answer.refusal && { refusal: answer.refusal }),
          ...(answer.calls.length > 0 && {
            tool_calls: answer.calls.map(({ id, name, input }) => ({
              id,
              type: 'function',
              function: { name, arguments: input },
            })),
          }),
        },
      },
    ],
    usage: openaiUsage(answer),
  }),
  events: (answer) => {
    const chunk = (delta: Json, reason: string | null = null): Json => ({
      id: 'c',
      model: 'main',
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...piecesOf(answer.text ?? '').map((content) => chunk({ content })),
      ...(answer.refusal ? [chunk({ refusal: answer.refusal })] : []),
      ...answer.calls.map(({ id, name, input }, index) =>
        chunk({
          tool_calls: [{ index, id, type: 'function', function: { name, arguments: input } }],
        }),
      ),
      chunk({}, reasonOf(answer)),
      { id: 'c', model: 'main', choices: [], usage: openaiUsage(answer) },
    ];
  },
  send: (exchange, events) => sendEvents(exchange, [...events, '[DONE]']),
  encode: (event) => `data: ${JSON.stringify(event)}\n\n`,
  error: (message) => ({ error: { message, type: 'server_error' } }),
  overflow: {
    error: {
      message: "This model's maximum context length is 8192 tokens.",
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
    },
  },
  tokensAtStart: () => 0,
};

function openaiUsage({ input, output }: Answer): Json {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

const anthropic: Wire = {
  document: (answer) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'other',
    content: blocksOf(answer),
    stop_reason: stopReason(answer),
    usage: { input_tokens: answer.input, output_tokens: answer.output },
  }),
  events: (answer) => [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'other',
        content: [],
        stop_reason: null,
        usage: { input_tokens: answer.input, output_tokens: 0 },
      },
    },
    ...blocksOf(answer).flatMap((block, index) => blockEvents(block, index)),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: { output_tokens: answer.output },
    },
    { type: 'message_stop' },
  ],
  send: sendTypedEvents,
  encode: (event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
  error: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
  overflow: {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'prompt is too long: 9000 tokens > 8192 maximum',
    },
  },
  tokensAtStart: ({ input }) => input,
};

function stopReason({ calls, refusal }: Answer): string {
  if (refusal) return 'refusal';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function blocksOf({ text, refusal, calls }: Answer): readonly Json[] {
  const content = text ?? refusal;
  return [
    ...(content ? [{ type: 'text', text: content }] : []),
    ...calls.map(({ id, name, input }) => ({
      type: 'tool_use',
      id,
      name,
      input: input.endsWith('}') ? (JSON.parse(input) as Json) : {},
    })),
  ];
}

function blockEvents(block: Json, index: number): readonly Json[] {
  const isText = block['type'] === 'text';
  const start = isText ? { type: 'text', text: '' } : { ...block, input: {} };
  const deltas = isText
    ? piecesOf(String(block['text'])).map((text) => ({ type: 'text_delta', text }))
    : [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }];
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

const WIRES = { openai, anthropic };
