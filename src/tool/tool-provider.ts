import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { flattenTools } from './check-tool.js';
import { isTimeout, TIMEOUT_RULE } from './timeout.js';
import { toolsByName } from './tool-names.js';
import type { Tool } from './tool.js';

/**
 * Gives tools when a request is made. It is asked once for each request, however many iterations that takes, and before any
 * advisor; all providers of a request are asked at the same time. One that fails ends the request with a `ToolProviderError`.
 */
export interface ToolProvider {
  /** For error messages. */
  readonly name: string;
  /** Milliseconds after which the provider is given up, or `Infinity`. @default 30_000 */
  readonly timeout?: number | undefined;
  tools(request: ToolProviderRequest): ProvidedTools | Promise<ProvidedTools>;
}

/** What a provider knows of the request that it is asked for. */
export interface ToolProviderRequest {
  /** The values for the advisors. */
  readonly context: AdvisorContext;
  /** The values for the tools; the model never sees them. */
  readonly toolContext: ToolContextValues;
  /** Aborts when the answer is of no use any more: the run is cancelled, or a provider failed or was late. */
  readonly signal: AbortSignal;
}

/** Tools, also in lists within lists. */
export type ProvidedTools = readonly (Tool | ProvidedTools)[];

/** What a provider is made from. */
export interface ToolProviderOptions extends Pick<ToolProvider, 'name' | 'timeout'> {
  /** The tools, or a function that gives those of a request. */
  readonly tools: ProvidedTools | ToolProvider['tools'];
}

/**
 * Makes a provider.
 * @throws {@link InvalidArgumentError} if the name is blank, the tools cannot be used, or the timeout is out of range
 */
export function defineToolProvider(options: ToolProviderOptions): ToolProvider {
  const { name, tools, timeout } = options ?? ({} as Partial<ToolProviderOptions>);
  const provider: ToolProvider = {
    name: name as string,
    tools: typeof tools === 'function' ? (request) => tools(request) : constant(tools),
    ...(timeout !== undefined && { timeout }),
  };
  checkToolProvider(provider, 'defineToolProvider');
  return provider;
}

function constant(given: ProvidedTools | undefined): ToolProvider['tools'] {
  if (!Array.isArray(given))
    throw new InvalidArgumentError(`defineToolProvider: tools must be an array of tools or a function, not ${describe(given)}`);
  const tools = flattenTools(given, 'defineToolProvider');
  toolsByName(tools); // refuses two of one name now, not at the first request
  return () => tools;
}

/** Whether something is a provider, or at least meant to be one, and not a tool. */
export function isToolProvider(value: unknown): value is ToolProvider {
  const { tools, definition } = (value ?? {}) as Partial<ToolProvider & Tool>;
  return typeof tools === 'function' && definition === undefined;
}

/** @throws {@link InvalidArgumentError} if a field of a provider cannot be used */
export function checkToolProvider({ name, timeout }: ToolProvider, where: string): void {
  if (typeof name !== 'string' || name.trim() === '')
    throw new InvalidArgumentError(`${where}: a tool provider needs a name, a non-blank string, not ${describe(name)}`);
  if (timeout !== undefined && !isTimeout(timeout))
    throw new InvalidArgumentError(`${where}: tool provider "${name}": timeout must be ${TIMEOUT_RULE}, not ${describe(timeout)}`);
}
