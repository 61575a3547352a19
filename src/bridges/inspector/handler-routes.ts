import type { Decisions } from '../../core/chat/paused-turn.js';
import type { ChatClient, PromptSpec } from '../../core/client/chat-client.js';
import { SCOPE } from '../../core/internal/package.js';
import { readInput } from '../http/index.js';
import { readJsonBody } from '../http/read-json-body.js';
import { changeStream } from './change-stream.js';
import { jsonAnswer, refusal, startError } from './handler-answer.js';
import type { InspectorHandlerOptions } from './handler-options.js';
import type { InspectedSource, LiveTurn } from './inspected-source.js';
import type { InspectorEvent } from './page-messages.js';
import { pageFile } from './page-answer.js';
import { decideRequests } from './decide-requests.js';
import { startTurn } from './start-turn.js';
import { checkTurnToTry, resumedTurn, triedTurn } from './tried-turn.js';

type Route = (request: Request, id: string) => Response | Promise<Response>;

/** Depth of a body: results of tools are within the messages of a file. */
const MAX_DEPTH = 64;
const MAX_FILE_DEPTH = 200;
const TURN = /^api\/turns\/([^/]{1,1536})(\/[a-z]+)?$/;

/** The routes of an inspector: a fixed table of files, and its data. */
export class HandlerRoutes {
  /** Routes by method and path; `*` is the id of a turn. */
  private readonly table: Readonly<Record<string, Route>> = {
    'GET ': () => pageFile('html'),
    'GET page.js': () => pageFile('js'),
    'GET page.css': () => pageFile('css'),
    'GET api/events': (request) => this.events(request),
    'GET api/turns/*': (_, id) => jsonAnswer(this.inspector.turn(id) ?? noTurn()),
    'GET api/turns/*/states': async (_, id) => {
      return jsonAnswer(await this.inspector.states(this.known(id)));
    },
    'GET api/turns/*/export': (_, id) => this.export(this.known(id)),
    'POST api/import': (request) => this.import(request),
    'POST api/try': (request) => this.try(request),
    'POST api/turns/*/decisions': (request, id) => this.decide(request, id),
    'POST api/turns/*/cancel': (request, id) => this.cancel(request, id),
    'DELETE api/turns': () => {
      this.inspector.clear();
      return jsonAnswer({ kept: this.inspector.kept() });
    },
  };

  constructor(
    private readonly inspector: InspectedSource,
    private readonly options: InspectorHandlerOptions,
  ) {}

  /** @param path below the page, without a slash at its start */
  async answer(request: Request, path: string): Promise<Response> {
    const [, encoded, rest = ''] = TURN.exec(path) ?? [];
    const place = encoded === undefined ? path : `api/turns/*${rest}`;
    const key = `${request.method} ${place}`;
    const route = Object.hasOwn(this.table, key) ? this.table[key] : undefined;
    if (route) return route(request, encoded === undefined ? '' : decoded(encoded));
    const allowed = Object.keys(this.table).filter((each) => each.endsWith(` ${place}`));
    if (allowed.length === 0) throw refusal(404, 'not_found', 'There is no such page.');
    const methods = allowed.map((each) => each.slice(0, each.indexOf(' '))).join(', ');
    throw refusal(405, 'method_not_allowed', `The method must be ${methods}.`);
  }

  private events(request: Request): Response {
    const { inspector, options } = this;
    const source = {
      subscribe: inspector.subscribe.bind(inspector),
      hello: () => this.hello(),
    };
    return changeStream(source, request, options.heartbeat ?? 15_000);
  }

  private hello(): Extract<InspectorEvent, { readonly type: 'hello' }> {
    const { inspector, options } = this;
    const { client } = options;
    return {
      type: 'hello',
      version: SCOPE.version,
      canTry: client !== undefined,
      ...(client && { chain: inspector.chainOf(client) }),
      turns: inspector.turns(),
      kept: inspector.kept(),
    };
  }

  private async export(id: string): Promise<Response> {
    const name = id.replaceAll(/[^\w-]/g, '').slice(0, 64);
    const headers = { 'content-disposition': `attachment; filename="turn-${name}.json"` };
    return jsonAnswer(await this.inspector.export([id]), headers);
  }

  private async import(request: Request): Promise<Response> {
    const { maxFileBytes = 50_000_000 } = this.options;
    const file = await this.body(request, maxFileBytes, MAX_FILE_DEPTH);
    return jsonAnswer({ ids: readInput(() => this.inspector.import(file)) });
  }

  private async try(request: Request): Promise<Response> {
    const client = this.client();
    const body = await this.body(request);
    const turn = readInput(() => checkTurnToTry(body));
    const live = turn.repeat === undefined ? undefined : this.live(turn.repeat);
    const spec = readInput(() => triedTurn(turn, client, this.inspector, live));
    return this.start(spec, turn.mode ?? live?.request.mode ?? 'stream');
  }

  private async decide(request: Request, id: string): Promise<Response> {
    const client = this.client();
    const decisions = (await this.body(request)) as Decisions;
    const live = this.live(id);
    if (live.paused) {
      const spec = readInput(() => resumedTurn(live, decisions, client, this.inspector));
      return this.start(spec, live.request.mode);
    }
    if (readInput(() => decideRequests(live, decisions))) return jsonAnswer({ id });
    throw refusal(409, 'not_paused', 'The turn does not wait for this decision.');
  }

  private async cancel(request: Request, id: string): Promise<Response> {
    this.client();
    await this.body(request);
    this.known(id);
    if (this.inspector.cancel(id)) return jsonAnswer({ id });
    throw refusal(409, 'not_running', 'The turn does not run.');
  }

  private async start(spec: PromptSpec, mode: 'call' | 'stream'): Promise<Response> {
    try {
      return jsonAnswer({ id: await startTurn(spec, mode) });
    } catch (error) {
      throw startError(error);
    }
  }

  private body(
    request: Request,
    maxBytes = this.options.maxBodyBytes ?? 1_048_576,
    maxDepth = MAX_DEPTH,
  ): ReturnType<typeof readJsonBody> {
    const tooLarge = (message: string): Error => refusal(413, 'request_too_large', message);
    return readJsonBody(request, { maxBytes, maxDepth, tooLarge });
  }

  /** @throws a refusal without a client: the page shows turns alone then */
  private client(): ChatClient {
    const { client } = this.options;
    if (client) return client;
    throw refusal(409, 'no_client', 'The inspector has no client, so the page shows turns alone.');
  }

  private known(id: string): string {
    return this.inspector.live(id) || this.inspector.turn(id) ? id : noTurn();
  }

  private live(id: string): LiveTurn {
    const live = this.inspector.live(this.known(id));
    if (live) return live;
    throw refusal(409, 'not_live', 'A turn of a file can be read, not run.');
  }
}

function noTurn(): never {
  throw refusal(404, 'no_turn', 'There is no such turn: newer turns may have taken its place.');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return noTurn();
  }
}
