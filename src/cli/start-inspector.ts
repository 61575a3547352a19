import { toNodeHandler } from '../bridges/http/index.js';
import {
  Inspector,
  inspectorHandler,
  type InspectorHandlerOptions,
} from '../bridges/inspector/index.js';
import type { ChatClient } from '../core/client/chat-client.js';
import { InvalidArgumentError } from '../core/errors/errors.js';
import { listen } from './listen.js';

/** Options of {@link startInspector}. */
export interface StartInspectorOptions extends Omit<InspectorHandlerOptions, 'client' | 'path'> {
  /** The inspector that the client has. @default a new one, for turns of the page */
  readonly inspector?: Inspector | undefined;
  /** @default a free one */
  readonly port?: number | undefined;
}

/** A server of an inspector. */
export interface StartedInspector {
  /** The address of the page, with its token. */
  readonly url: string;
  readonly inspector: Inspector;
  /** Ends the server with all of its connections. */
  close(): Promise<void>;
}

/**
 * Serves the page of an inspector to this computer.
 * @throws {@link InvalidArgumentError} in production, for an invalid option, or a port that is not free
 */
export async function startInspector(
  client: ChatClient | undefined,
  options: StartInspectorOptions = {},
): Promise<StartedInspector> {
  const { inspector = new Inspector(), port = 0, ...own } = options;
  if (process.env['NODE_ENV'] === 'production' && own.allowInProduction !== true)
    throw new InvalidArgumentError(
      'startInspector: NODE_ENV is production, where the inspector would show the conversations of all users; unset NODE_ENV, or set allowInProduction',
    );
  const handler = inspectorHandler(inspector, { ...own, client });
  const { address, close } = await listen(toNodeHandler(handler), port);
  return { url: `${address}/?token=${handler.token}`, inspector, close };
}
