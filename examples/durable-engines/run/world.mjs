// The outside of a turn: a model and the systems of its tools on one server, which counts what it is asked, and can hold an answer back.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const call = (callId, name, id) => ({ type: 'tool_use', id: callId, name, input: { id } });
/** The answers of the model, by the number of those that the turn has. */
const SCRIPT = [
  [call('toolu_1', 'find_order', '7'), call('toolu_2', 'find_customer', '7')],
  [call('toolu_3', 'refund', '7'), call('toolu_4', 'refund', '8')],
  [{ type: 'text', text: 'Order 7 of Anna is refunded.' }],
];

function answerOf({ messages }) {
  const content = SCRIPT[messages.filter(({ role }) => role === 'assistant').length];
  const stop_reason = content[0].type === 'text' ? 'end_turn' : 'tool_use';
  const usage = { input_tokens: 9, output_tokens: 7 };
  return { id: 'm_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason, usage };
}

export class World {
  /** The paths that were asked for, in order. */
  requests = [];
  /** The last request that the model got, as JSON. */
  prompt = '';
  /** Ids of what a person is asked, by the call. */
  #asked = new Map();
  #held = new Set();
  #waiting = [];

  async start() {
    this.server = createServer((request, response) => void this.#reply(request, response));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Never answers request number `time` for a path. */
  hold = (path, time) => void this.#held.add(`${path} ${time}`);

  counts = () => Object.fromEntries(this.requests.map((path) => [path, this.count(path)]));

  count = (path) => this.requests.filter((each) => each === path).length;

  /** Resolves when a path was asked for a number of times. */
  async requested(path, times = 1) {
    while (this.count(path) < times) await new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The id of what a person is asked about a call. */
  async requestOf(callId, type = 'approval') {
    const key = `${type} ${callId}`;
    while (!this.#asked.has(key)) await new Promise((resolve) => this.#waiting.push(resolve));
    return this.#asked.get(key);
  }

  #note = ({ type, callId, id }) => void this.#asked.set(`${type} ${callId}`, id);

  async #reply(request, response) {
    const path = request.url.slice(1);
    const body = await text(request);
    if (path === 'v1/messages') this.prompt = body;
    if (path === 'requests') this.#note(JSON.parse(body));
    else this.requests.push(path);
    for (const resolve of this.#waiting.splice(0)) resolve();
    if (this.#held.has(`${path} ${this.count(path)}`)) return;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(path === 'v1/messages' ? answerOf(JSON.parse(body)) : { path }));
  }
}
