import type { Json } from './cassettes.js';
import { beginEvents, chunk, completion, WireServer, type Exchange } from './wire-server.js';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface Answer {
  readonly text: string;
  readonly calls?: readonly Call[];
}

const call = (id: string, name: string): Call => ({ id, name, arguments: `{"id":"${id}"}` });

/** The answers of a turn, by iteration. */
const ANSWERS: readonly Answer[] = [
  { text: 'I look it up.', calls: [call('call_1', 'find')] },
  { text: 'I store and send it.', calls: [call('call_2', 'save'), call('call_3', 'send')] },
  { text: 'I charge it.', calls: [call('call_4', 'charge')] },
  { text: 'It is all done.' },
];

type WireMessage = { readonly role: string; readonly content: unknown };

const TURN = /turn-[\w-]+/;

/** The turn and the iteration of a request: its question names the turn. */
export function placeOf(body: unknown): { readonly turnId: string; readonly iteration: number } {
  const { messages } = body as { readonly messages: readonly WireMessage[] };
  const question = messages.findLastIndex(({ content }) => TURN.test(JSON.stringify(content)));
  const answers = messages.slice(question).filter(({ role }) => role === 'assistant');
  const turnId = JSON.stringify(messages[question]?.content).match(TURN)?.[0] ?? '';
  return { turnId, iteration: answers.length };
}

/** A model server that counts its requests by turn and iteration. */
export class KillModelServer {
  private readonly counts = new Map<string, number>();

  private constructor(private readonly server: WireServer) {}

  static async start(): Promise<KillModelServer> {
    const started: { server?: KillModelServer } = {};
    const wire = await WireServer.start((exchange) => started.server?.answer(exchange));
    return (started.server = new KillModelServer(wire));
  }

  get baseURL(): string {
    return this.server.baseURL;
  }

  requestsOf(turnId: string, iteration: number): number {
    return this.counts.get(`${turnId} ${iteration}`) ?? 0;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private answer(exchange: Exchange): void {
    const { turnId, iteration } = placeOf(exchange.body);
    this.counts.set(`${turnId} ${iteration}`, this.requestsOf(turnId, iteration) + 1);
    const answer = ANSWERS[iteration] as Answer;
    if (exchange.body['stream'] === true) sendHalves(exchange, eventsOf(answer));
    else sendHalves(exchange, [JSON.stringify(bodyOf(answer))], 'application/json');
  }
}

const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

const wireCall = ({ id, name, arguments: text }: Call, index: number): Json => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: text },
});

function bodyOf({ text, calls }: Answer): Json {
  const whole = completion(text, { usage: USAGE });
  const message = { role: 'assistant', content: text, ...(calls && { tool_calls: calls.map(wireCall) }) }; // prettier-ignore
  return { ...whole, choices: [{ index: 0, message, finish_reason: calls ? 'tool_calls' : 'stop' }] }; // prettier-ignore
}

function eventsOf({ text, calls }: Answer): readonly string[] {
  const words = text.split(' ').map((word, at) => chunk({ content: at === 0 ? word : ` ${word}` }));
  const end = chunk({}, calls ? 'tool_calls' : 'stop', { usage: USAGE });
  const deltas = [...words, ...(calls ? [chunk({ tool_calls: calls.map(wireCall) })] : []), end];
  return [...deltas.map((delta) => `data: ${JSON.stringify(delta)}\n\n`), 'data: [DONE]\n\n'];
}

/** Sends a body in two pieces, so that a client reads twice. */
function sendHalves(exchange: Exchange, pieces: readonly string[], type?: string): void {
  const { response } = exchange;
  const text = pieces.join('');
  const half = Math.floor(text.length / 2);
  if (type === undefined) beginEvents(exchange);
  else response.writeHead(200, { 'content-type': type });
  response.write(text.slice(0, half));
  setTimeout(() => response.end(text.slice(half)), 5);
}
