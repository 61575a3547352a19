import OpenAI from 'openai';
import { ChatClient, ModelTimeoutError } from '../../src/index.js';
import {
  OpenAIChatModel,
  OpenAIEmbeddingModel,
  type OpenAIChatModelOptions,
} from '../../src/models/openai/index.js';
import type { ForeignWait, Scene, WaitRow } from './foreign-wait.js';
import { runSpec } from './modes.js';
import { completion } from './wire-server.js';

type Fetch = (input: unknown, init?: RequestInit) => Promise<Response>;

const BASE = 'http://127.0.0.1:9/v1';
const LIMITED = { timeout: ModelTimeoutError } as const;

/** Options of a model with the limits of a scene. */
export function limitsOf({ limits: { timeout } }: Scene): Partial<OpenAIChatModelOptions> {
  return { timeout, firstChunkTimeout: timeout, idleTimeout: timeout, maxRetries: 0 };
}

/** Runs a turn with a model. */
export function runModel(scene: Scene, options: Partial<OpenAIChatModelOptions>): Promise<unknown> {
  const model = new OpenAIChatModel({ model: 'm', ...limitsOf(scene), ...options });
  const spec = ChatClient.create(model).prompt('?').signal(scene.wait.signal);
  return runSpec(scene.mode, spec);
}

/** Runs with another global `fetch`. */
async function withFetch<T>(fetch: Fetch, run: () => Promise<T>): Promise<T> {
  const before = globalThis.fetch;
  globalThis.fetch = fetch;
  try {
    return await run();
  } finally {
    globalThis.fetch = before;
  }
}

const answer = (): Response => new Response(JSON.stringify(completion('ok')));

/** A response whose body waits after some bytes. */
function waitingBody(
  wait: ForeignWait,
  start: string,
  status: number,
  signal?: AbortSignal | null,
) {
  let begun = start === '';
  const pull = async (body: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    if (!begun) {
      begun = true;
      return body.enqueue(new TextEncoder().encode(start));
    }
    await wait.enter(undefined, signal ?? undefined);
    body.close();
  };
  const cancel = (): Promise<void> => new Promise(() => undefined);
  const source = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  return new Response(source, { status });
}

/** Requests by their title, each with the `fetch` in which it waits. */
const FETCHES: Readonly<Record<string, (wait: ForeignWait) => Fetch>> = {
  fetch: (wait) => (_, init) => wait.enter(answer(), init?.signal ?? undefined),
  'the body of an answer': (wait) => (_, init) =>
    Promise.resolve(waitingBody(wait, '', 200, init?.signal)),
  'the rest of a body': (wait) => (_, init) =>
    Promise.resolve(waitingBody(wait, 'data: {"choices":', 200, init?.signal)),
  'the body of an error': (wait) => (_, init) =>
    Promise.resolve(waitingBody(wait, '<html>', 500, init?.signal)),
  'the request after a redirect': (wait) => {
    let count = 0;
    return (_, init) =>
      count++ > 0
        ? wait.enter(answer(), init?.signal ?? undefined)
        : Promise.resolve(new Response(null, { status: 307, headers: { location: BASE } }));
  },
};

const asked = Object.entries(FETCHES).flatMap(([title, fetchOf]): readonly WaitRow[] => [
  {
    title,
    limits: LIMITED,
    run: (scene) =>
      withFetch(fetchOf(scene.wait), () => runModel(scene, { baseURL: BASE, apiKey: 'sk-test' })),
  },
  {
    title: `${title} of a ready client`,
    limits: LIMITED,
    run: (scene) => {
      const client = new OpenAI({ apiKey: 'sk-test', baseURL: BASE, fetch: fetchOf(scene.wait) });
      return runModel(scene, { client });
    },
    keepsTimer: true, // the package clears its timer when its `fetch` settles
  },
  {
    title: `${title} of embeddings`,
    limits: LIMITED,
    run: ({ wait, limits: { timeout } }) => {
      const model = new OpenAIEmbeddingModel({
        model: 'm',
        apiKey: 'sk-test',
        baseURL: BASE,
        timeout,
        maxRetries: 0,
      });
      return withFetch(fetchOf(wait), () => model.embed(['text'], { signal: wait.signal }));
    },
  },
]);

/** Waits for a model, without a connection. */
export const FETCH_WAITS: readonly WaitRow[] = [
  ...asked,
  {
    title: 'the function of an API key',
    limits: LIMITED,
    run: (scene) => {
      const apiKey = (): Promise<string> => scene.wait.enter('sk-test');
      const fetch: Fetch = () => Promise.resolve(answer());
      return runModel(scene, { client: new OpenAI({ apiKey, baseURL: BASE, fetch }) });
    },
  },
  {
    title: 'the delay that a server asks for',
    limits: LIMITED,
    own: true,
    run: (scene) => {
      const busy: Fetch = () => {
        void scene.wait.enter(undefined);
        const headers = { 'retry-after': '30' };
        return Promise.resolve(new Response('busy', { status: 503, headers }));
      };
      return withFetch(busy, () =>
        runModel(scene, { baseURL: BASE, apiKey: 'sk-test', maxRetries: 2 }),
      );
    },
  },
];
