import { toBase64Url } from '../../core/internal/base64url.js';
import { notify } from '../../core/internal/notify.js';
import { checkOption, withMethods } from '../../core/internal/options.js';
import { printError, toHttpError } from '../http/http-error.js';
import { HandlerAccess } from './handler-access.js';
import { errorAnswer, redirect, refusal } from './handler-answer.js';
import { checkHandlerOptions, type InspectorHandlerOptions } from './handler-options.js';
import { HandlerRoutes } from './handler-routes.js';
import type { InspectedSource } from './inspected-source.js';
import { isProduction } from './production.js';

/** A handler of web-standard requests that answers with an inspector. */
export interface InspectorHandler {
  (request: Request): Promise<Response>;
  /** The secret that opens the inspector: `http://127.0.0.1:PORT/PATH/?token=TOKEN`. */
  readonly token: string;
}

const NAME = 'inspectorHandler';
const INSPECTOR = withMethods('an Inspector', 'turns', 'turn', 'subscribe');

/**
 * The page of an inspector with its data, for development: it answers on this computer alone, to its
 * own page and to programs that have its token, and not at all in production. The token opens all
 * recorded turns and, with a client, runs turns. The function never rejects.
 *
 * @throws {@link InvalidArgumentError} if an option is invalid
 * @example createServer(toNodeHandler(inspectorHandler(inspector, { client }))).listen(4000, '127.0.0.1')
 */
export function inspectorHandler(
  inspector: InspectedSource,
  options: InspectorHandlerOptions = {},
): InspectorHandler {
  checkOption(NAME, 'inspector', inspector, INSPECTOR);
  checkHandlerOptions(NAME, options);
  const { token = newToken() } = options;
  const handler = new Handler(inspector, options, token);
  const answer = (request: Request): Promise<Response> => handler.answer(request);
  return Object.freeze(Object.assign(answer, { token }));
}

function newToken(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

class Handler {
  private readonly access: HandlerAccess;
  private readonly routes: HandlerRoutes;
  private readonly path: string;

  constructor(
    private readonly inspector: InspectedSource,
    private readonly options: InspectorHandlerOptions,
    token: string,
  ) {
    const { hosts = [], path = '' } = options;
    this.path = path;
    this.access = new HandlerAccess(token, hosts, path);
    this.routes = new HandlerRoutes(inspector, options);
  }

  async answer(request: Request): Promise<Response> {
    try {
      return await this.route(request);
    } catch (error) {
      return this.refuse(error, request);
    }
  }

  private refuse(error: unknown, request: Request): Response {
    const shown = toHttpError(error);
    const { onError = printError } = this.options;
    if (shown.status >= 500 && !request.signal.aborted) notify(() => onError(error, shown));
    return errorAnswer({ ...shown, message: this.inspector.redact(shown.message) });
  }

  private async route(request: Request): Promise<Response> {
    if (isProduction() && this.options.allowInProduction !== true) throw notFound();
    this.access.checkOrigin(request);
    const { pathname } = new URL(request.url);
    const { path } = this;
    const isPage = pathname === path || pathname === `${path}/`;
    if (isPage && request.method === 'GET') {
      const cookie = this.access.cookieFor(request);
      if (cookie !== undefined) return redirect(`${path}/`, cookie);
    }
    this.access.checkToken(request);
    if (!isPage && !pathname.startsWith(`${path}/`)) throw notFound();
    if (pathname === path && path !== '') return redirect(`${path}/`);
    return this.routes.answer(request, pathname.slice(path.length + 1));
  }
}

export function notFound(): Error {
  return refusal(404, 'not_found', 'There is no such page.');
}
