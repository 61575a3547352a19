// For the performance harness: like its own adapter for this library, but with the limits of a turn raised.
// The harness has scenarios of 50 iterations with one tool; by default a turn ends at 25 iterations and 40 calls of a tool.
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  ToolCallingAdvisor,
  ToolCallingManager,
} from 'advisor-chain';
import { OpenAIChatModel } from 'advisor-chain/openai';
import { API_KEY, SYSTEM, USER, perTools } from './lib/work.mjs';

export const meta = {
  name: 'advisor-chain',
  features: ['call', 'loop', 'stream', 'streamLoop', 'history', 'middleware', 'middlewareTouch'],
};
const clients = new Map();
let baseURL;
let advisors;

export async function init(url, { middlewares = 0, mode = 'noop' } = {}) {
  baseURL = url;
  const work = mode === 'touch' ? { onEvent: (event) => event } : { before: (request) => request };
  advisors = Array.from({ length: middlewares }, (_, i) =>
    defineAdvisor({ name: `${mode}-${i}`, order: 1_000_000 + i, ...work }),
  );
}

function client(name) {
  if (!clients.has(name)) {
    const model = new OpenAIChatModel({ model: name, apiKey: API_KEY, baseURL, maxRetries: 0 });
    const manager = new ToolCallingManager({ maxCallsPerTool: 1_000, maxTotalCalls: 1_000 });
    const loop = new ToolCallingAdvisor({ maxIterations: 1_000, manager });
    const built = ChatClient.builder(model)
      .defaultSystem(SYSTEM)
      .defaultAdvisors(loop, ...advisors)
      .build();
    clients.set(name, built);
  }
  return clients.get(name);
}

const convert = perTools((tools) =>
  tools.map((t) =>
    defineTool({
      name: t.name,
      description: t.description,
      input: t.parameters,
      execute: (args) => t.execute(args),
    }),
  ),
);
const toMessage = ({ role, content }) => ({ role, content });
const read = (texts, onDelta) =>
  new Promise((resolve, reject) => {
    let all = '';
    texts.subscribe({
      next: (text) => ((all += text), onDelta(text)),
      error: reject,
      complete: () => resolve(all),
    });
  });

export async function call(name, { history } = {}) {
  const spec = client(name).prompt();
  return (history ? spec.messages(...history.map(toMessage)) : spec).user(USER).call().content();
}
export async function callWithLoop(name, tools) {
  const spec = client(name).prompt().user(USER);
  return spec
    .tools(...convert(tools))
    .call()
    .content();
}
export async function stream(name, onDelta) {
  return read(client(name).prompt().user(USER).stream().content(), onDelta);
}
export async function streamWithLoop(name, tools, onDelta) {
  const spec = client(name).prompt().user(USER);
  return read(
    spec
      .tools(...convert(tools))
      .stream()
      .content(),
    onDelta,
  );
}
