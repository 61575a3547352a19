import { createServer } from 'node:http';
import { agUI, fromRunInput } from '../../src/bridges/ag-ui/index.js';
import {
  errorResponse,
  invalidInput,
  readInput,
  readJsonInput,
  toHttpError,
  toNodeHandler,
  toResponse,
} from '../../src/bridges/http/index.js';
import { serveOpenAI } from '../../src/bridges/serve/index.js';
import {
  fromUIMessages,
  SealedHistory,
  toUIMessageStreamResponse,
} from '../../src/bridges/ui/index.js';
import { textOf } from '../../src/core/chat/message.js';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { listen } from './http-servers.js';
import { SECRET } from './paused-turns.js';

/** In everything of the server that no client may see. */
export const CANARY = 'canary-4711';
export const SYSTEM = `You help. ${CANARY}`;
/** All that the model and the tools of the server write. */
export const OWN_TEXTS: readonly string[] = ['An answer.', 'I pay.', 'paid', 'Done.'];

class LostRepository extends InMemoryChatMemoryRepository {
  override read(): never {
    throw new Error(`connect ECONNREFUSED redis://root:${CANARY}@10.0.0.7:6379`);
  }
}

/** Pays if the user asks for it, and fails if the user asks for that. */
function answerOf(text: string, isAfterTool: boolean): ScriptedAnswer {
  if (isAfterTool) return 'Done.';
  if (text === 'fail') return new ModelCallError(`${CANARY} at http://10.0.0.8`, { status: 401 });
  if (text === 'pay') return { text: 'I pay.', toolCalls: [{ name: 'pay', arguments: {} }] };
  return 'An answer.';
}

/** A server with all bridges to browsers; `x-user` is the session of a request. */
export async function startAttackedServer() {
  const paid: unknown[] = [];
  const model = new ScriptedChatModel(({ messages }) => {
    const last = messages.at(-1);
    return answerOf(last ? textOf(last) : '', last?.role === 'tool');
  });
  const pay = defineTool({
    name: 'pay',
    effect: 'write',
    execute: (_input, { values }) => {
      paid.push(values);
      return 'paid';
    },
  });
  const builder = ChatClient.builder(model)
    .defaultSystem(SYSTEM)
    .defaultTools(pay)
    .defaultToolContext({ key: CANARY });
  const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
  const clientWith = (repository: InMemoryChatMemoryRepository): ChatClient =>
    builder
      .build()
      .mutate()
      .defaultAdvisors(
        new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }),
        new ApprovalAdvisor({ pause }),
      )
      .build();
  const client = clientWith(new InMemoryChatMemoryRepository());
  const broken = clientWith(new LostRepository());
  const plain = builder.build();
  const histories = new SealedHistory({ secrets: SECRET });
  const openai = serveOpenAI({
    clients: { chat: plain },
    authorize: (key) => key === 'key',
    maxBodyBytes: 200_000,
  });
  const local = serveOpenAI({ clients: { chat: plain }, path: '/local' });

  const routes: Readonly<Record<string, (request: Request, user: string) => Promise<Response>>> = {
    '/ui': async (request, user) => {
      const conversation = `${user}/ui`;
      const { message, decisions } = fromUIMessages(await bodyOf(request), { by: user });
      const used = user === 'mallory' ? broken : client;
      if (message) {
        const stream = used.prompt().messages(message).conversation(conversation).stream();
        return toUIMessageStreamResponse(stream, { signal: request.signal });
      }
      const [turn] = await used.pending(conversation);
      if (!turn) throw invalidInput('No turn waits for a decision.');
      const resumed = used.resume(turn.id, decisions).conversation(conversation);
      return toUIMessageStreamResponse(resumed.stream(), { isContinuation: true });
    },
    '/sealed': async (request, user) => {
      const place = { conversation: 'chat', owner: user };
      const { message, history, sealed } = await histories.fromUIMessages(await bodyOf(request), place); // prettier-ignore
      const stream = plain.prompt().messages(...history, message ?? []).stream(); // prettier-ignore
      return toUIMessageStreamResponse(sealed(stream), { signal: request.signal });
    },
    '/ag-ui': async (request, user) => {
      const input = fromRunInput(await bodyOf(request), { by: user });
      const { threadId, runId, message, decisions, turn } = input;
      const spec = decisions
        ? readInput(() => client.resume(turn ?? '', decisions))
        : client.prompt().messages(message ?? []);
      const stream = spec.conversation(`${user}/${threadId}`).stream();
      return toResponse(stream, { format: agUI({ threadId, runId }), signal: request.signal });
    },
    '/http': async (request) => {
      const { question } = (await bodyOf(request)) as { readonly question?: unknown };
      if (typeof question !== 'string' || question.length > 100_000)
        throw invalidInput('There is no question.');
      const turn = readInput(() => plain.prompt(question));
      const format = new URL(request.url).searchParams.get('format') === 'text' ? 'text' : 'sse';
      return toResponse(turn.stream(), { format, signal: request.signal });
    },
  };
  const handler = toNodeHandler(
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith('/v1')) return openai(request);
      if (pathname.startsWith('/local')) return local(request);
      const route = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
      if (!route) return new Response(null, { status: 404 });
      try {
        return await route(request, request.headers.get('x-user') ?? 'anna');
      } catch (error) {
        return errorResponse(toHttpError(error));
      }
    },
    { onError: () => undefined },
  );
  const started = await listen(createServer((request, response) => void handler(request, response))); // prettier-ignore
  return { port: started.port, close: () => started.close(), model, paid };
}

const bodyOf = (request: Request): Promise<object> => readJsonInput(request, { maxBytes: 800_000 });
