import type { ChatClient, PromptSpec } from '../../core/client/chat-client.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { notify } from '../../core/internal/notify.js';
import {
  checkOptions,
  FUNCTION,
  hasMethods,
  integer,
  isPlainObject,
  required,
  rule,
  WAIT,
  type JsonObject,
} from '../../core/internal/options.js';
import { printError } from '../http/http-error.js';
import { readInput, type HttpError } from '../http/index.js';
import { readJsonBody } from '../http/read-json-body.js';
import { respond } from '../http/respond.js';
import { callerOf, type Authorize } from './access.js';
import { CALLER_TOOLS, callerTools, fromTools } from './caller-tools.js';
import { chunkFormat, toCompletion, type AnswerHead } from './completion.js';
import { asBoolean, asName, asObject, needed, optional } from './fields.js';
import { fromMessages } from './from-messages.js';
import { fromOptions } from './from-options.js';
import { refusal, toErrorResponse, toOpenAIError, withRetryHint } from './openai-error.js';

/** A request of a caller. */
export interface ServedCall {
  /** The value that `authorize` returned; undefined without it. */
  readonly caller: unknown;
  readonly request: Request;
  /** The name of the model in the request. */
  readonly model: string;
}

/** Options of {@link serveOpenAI}. */
export interface ServeOpenAIOptions {
  /** A client, which answers under every name of a model, or clients by the name of their model. */
  readonly clients: ChatClient | Readonly<Record<string, ChatClient>>;
  /**
   * Checks the key of a request (`Authorization: Bearer …`); a falsy result refuses it.
   * @default only connections from this computer have access, by `toNodeHandler`, which knows them
   */
  readonly authorize?: Authorize | undefined;
  /**
   * Prepares each turn: conversation, tool context, options, advisors.
   * @default the messages, options and tools of the caller on top of the client
   */
  readonly prepare?: ((turn: PromptSpec, call: ServedCall) => PromptSpec | Promise<PromptSpec>) | undefined; // prettier-ignore
  /** Path of the endpoint. @default '/v1' */
  readonly path?: string | undefined;
  /** Maximum length of a body in bytes, >= 1. @default 4_194_304 */
  readonly maxBodyBytes?: number | undefined;
  /** Maximum number of messages of a request, >= 1. @default 1_000 */
  readonly maxMessages?: number | undefined;
  /** Maximum number of tools of a request, >= 1. @default 128 */
  readonly maxTools?: number | undefined;
  /** Milliseconds of silence after which a stream writes a comment; 0 for never. @default 15_000 */
  readonly heartbeat?: number | undefined;
  /**
   * Receives each error with what the caller sees: log the `id` of it.
   * @default `console.error` from status 500 on
   */
  readonly onError?: ((error: unknown, shown: HttpError) => void) | undefined;
}

const NAME = 'serveOpenAI';
const isClient = (value: unknown): value is ChatClient => hasMethods(value, ['prompt', 'mutate']);
const RULES = {
  clients: required(
    rule(
      'a ChatClient, or an object of ChatClients by the name of their model',
      (value) => isClient(value) || (isPlainObject(value) && Object.values(value).every(isClient)),
    ),
  ),
  authorize: FUNCTION,
  prepare: FUNCTION,
  path: rule('a path such as "/v1"', (path) => typeof path === 'string' && /^(?:\/[\w.-]+)*$/.test(path)), // prettier-ignore
  maxBodyBytes: integer(1),
  maxMessages: integer(1),
  maxTools: integer(1),
  heartbeat: WAIT,
  onError: FUNCTION,
};

/** The name of the model in the list, if one client answers under every name. */
const ANY_MODEL = 'default';

/**
 * An endpoint for clients of the OpenAI API: `POST /v1/chat/completions`, `GET /v1/models`. Its tools
 * are offered beside the chain's own, and a call of them ends the answer. The function never
 * rejects.
 *
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function serveOpenAI(options: ServeOpenAIOptions): (request: Request) => Promise<Response> {
  checkOptions(NAME, options, RULES);
  const endpoint = new Endpoint(options);
  return (request) => endpoint.answer(request);
}

class Endpoint {
  private readonly clients: ReadonlyMap<string, ChatClient>;
  private readonly isAnyModel: boolean;
  private readonly created = seconds();

  constructor(private readonly options: ServeOpenAIOptions) {
    const { clients } = options;
    this.isAnyModel = isClient(clients);
    const byName = isClient(clients) ? { [ANY_MODEL]: clients } : clients;
    const served = Object.entries(byName).map(([name, client]) => {
      const own = client.mutate().defaultAdvisors(callerTools()).build();
      return [name, own as ChatClient] as const;
    });
    if (served.length === 0) throw new InvalidArgumentError(`${NAME}: clients has no client`);
    this.clients = new Map(served);
  }

  async answer(request: Request): Promise<Response> {
    try {
      const caller = await callerOf(request, this.options.authorize);
      return withRetryHint(await this.route(request, caller));
    } catch (error) {
      const { onError = printError } = this.options;
      if (!request.signal.aborted) notify(() => onError(error, toOpenAIError(error)));
      return toErrorResponse(error);
    }
  }

  private route(request: Request, caller: unknown): Promise<Response> | Response {
    const { pathname } = new URL(request.url);
    const base = this.options.path ?? '/v1';
    const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : '';
    if (path === '/chat/completions') {
      checkMethod(request, 'POST');
      return this.complete(request, caller);
    }
    if (path === '/models' || path.startsWith('/models/')) {
      checkMethod(request, 'GET');
      return this.models(path.slice('/models/'.length));
    }
    const other = path === '/responses' ? ` Use ${base}/chat/completions.` : '';
    throw refusal(404, 'not_found', `There is no such endpoint.${other}`);
  }

  private models(encoded: string): Response {
    const wanted = readInput(() => decoded(encoded));
    const toModel = (id: string): object => {
      return { id, object: 'model', created: this.created, owned_by: 'advisor-chain' };
    };
    if (wanted === '')
      return Response.json({ object: 'list', data: [...this.clients.keys()].map(toModel) });
    this.clientOf(wanted);
    return Response.json(toModel(wanted));
  }

  private clientOf(model: string): ChatClient {
    const client = this.clients.get(this.isAnyModel ? ANY_MODEL : model);
    if (client) return client;
    throw refusal(404, 'model_not_found', 'There is no such model.');
  }

  private async complete(request: Request, caller: unknown): Promise<Response> {
    const { maxBodyBytes = 4_194_304, heartbeat, onError, prepare } = this.options;
    const body = await readJsonBody(request, { maxBytes: maxBodyBytes, tooLarge });
    const model = needed(body, 'model', '', asName(256));
    const client = this.clientOf(model);
    const given = readInput(() => this.turnOf(client, body));
    const turn = prepare ? await prepare(given, { caller, request, model }) : given;
    const isStream = optional(body, 'stream', '', asBoolean) ?? false;
    const head = { id: `chatcmpl-${crypto.randomUUID()}`, created: seconds(), model };
    const run = untilLeft(turn, request);
    if (!isStream) return completed(run, head);
    const settings = optional(body, 'stream_options', '', asObject) ?? {};
    const withUsage = optional(settings, 'include_usage', 'stream_options.', asBoolean) ?? false;
    return respond(run.stream(), chunkFormat(head, withUsage), {
      signal: request.signal,
      toError: toOpenAIError,
      heartbeat,
      onError,
    });
  }

  private turnOf(client: ChatClient, body: JsonObject): PromptSpec {
    const { maxMessages = 1_000, maxTools = 128 } = this.options;
    const tools = fromTools(body, maxTools);
    const names = new Set(tools.map(({ definition }) => definition.name));
    return client
      .prompt()
      .messages(fromMessages(body, maxMessages))
      .options(fromOptions(body, tools))
      .tools(tools)
      .advisors((advisors) => advisors.param(CALLER_TOOLS, names));
  }
}

/** Also ends by a signal that `prepare` has set. */
function untilLeft(turn: PromptSpec, { signal }: Request): PromptSpec {
  const own = turn.settings.signal;
  return turn.signal(own ? AbortSignal.any([own, signal]) : signal);
}

async function completed(run: PromptSpec, head: AnswerHead): Promise<Response> {
  const result = run.call();
  await result.content(); // rejects for a turn that waits for people
  const body = toCompletion(head, await result.chatClientResponse());
  return Response.json(body, { headers: { 'cache-control': 'no-store' } });
}

const tooLarge = (message: string): Error => refusal(413, 'request_too_large', message);

function checkMethod({ method }: Request, allowed: string): void {
  if (method === allowed) return;
  const text = `The method must be ${allowed}.`;
  throw refusal(405, 'method_not_allowed', text, { allow: allowed });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new InvalidArgumentError('The name of the model is not encoded.', { cause });
  }
}

function seconds(): number {
  return Math.floor(Date.now() / 1_000);
}
