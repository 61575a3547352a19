import type { ChatClient } from '../../core/client/chat-client.js';
import {
  BOOLEAN,
  checkOptions,
  FUNCTION,
  integer,
  rule,
  WAIT,
  withMethods,
} from '../../core/internal/options.js';
import type { HttpError } from '../http/index.js';

/** Options of {@link inspectorHandler}. */
export interface InspectorHandlerOptions {
  /**
   * The client of turns that the page starts, repeats and resumes. With it the page also decides and cancels turns of
   * the application. @default none: turns are shown alone
   */
  readonly client?: ChatClient | undefined;
  /**
   * The secret that opens the inspector: 32 to 256 letters, digits, `-` and `_`.
   * @default 256 random bits, for each handler
   */
  readonly token?: string | undefined;
  /**
   * Hosts besides this computer under which the inspector answers, such as `dev.example` or
   * `localhost:8080` for a container: as in the header `Host`, with or without a port, which then has to
   * be the one of the request. @default none
   */
  readonly hosts?: readonly string[] | undefined;
  /** Path of the page in an application that has others, such as `/inspector`. @default '' */
  readonly path?: string | undefined;
  /** Maximum length of a body in bytes, >= 1. @default 1_048_576 */
  readonly maxBodyBytes?: number | undefined;
  /** Maximum length of a file with turns in bytes, >= 1. @default 50_000_000 */
  readonly maxFileBytes?: number | undefined;
  /** Milliseconds of silence after which the events have a comment; 0 for never. @default 15_000 */
  readonly heartbeat?: number | undefined;
  /**
   * Answers also if `NODE_ENV` is `production`. The page shows the conversations of all users.
   * @default false: there is no such page
   */
  readonly allowInProduction?: boolean | undefined;
  /** Receives each error from status 500 on, with the form that the page gets. @default `console.error` */
  readonly onError?: ((error: unknown, shown: HttpError) => void) | undefined;
}

const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:]{2,39}\])(?::\d{1,5})?$/i;
const RULES = {
  client: withMethods('a ChatClient', 'prompt', 'mutate'),
  token: rule(
    'a text of 32 to 256 letters, digits, "-" and "_"',
    (token) => typeof token === 'string' && /^[\w-]{32,256}$/.test(token),
  ),
  hosts: rule(
    'an array of hosts such as "dev.example" or "localhost:8080"',
    (hosts) =>
      Array.isArray(hosts) && hosts.every((host) => typeof host === 'string' && HOST.test(host)),
  ),
  path: rule(
    'a path such as "/inspector"',
    (path) => typeof path === 'string' && /^(?:\/[\w.-]+)*$/.test(path),
  ),
  maxBodyBytes: integer(1),
  maxFileBytes: integer(1),
  heartbeat: WAIT,
  allowInProduction: BOOLEAN,
  onError: FUNCTION,
};

/** @throws InvalidArgumentError that never contains the token */
export function checkHandlerOptions(where: string, options: InspectorHandlerOptions): void {
  const { token, ...others } = options ?? {};
  const isSecret = token === undefined || RULES.token.accepts(token);
  checkOptions(where, isSecret ? options : { ...others, token: '(not shown)' }, RULES);
}
