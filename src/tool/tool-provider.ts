import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import { checkOption, rule, TEXT, TIMEOUT } from '../internal/options.js';
import { flattenTools, toolsByName } from './check-tool.js';
import type { Tool } from './tool.js';

/**
 * Provides tools when a request is made: once per request, before any advisor runs. All providers
 * of a request run in parallel. A failure ends the request with a `ToolProviderError`.
 */
export interface ToolProvider {
  /** Name in error messages. */
  readonly name: string;
  /** Time limit in milliseconds, or `Infinity`. @default 30_000 */
  readonly timeout?: number | undefined;
  tools(request: ToolProviderRequest): ProvidedTools | Promise<ProvidedTools>;
}

/** The part of a request that a provider receives. */
export interface ToolProviderRequest {
  /** Values for the advisors. */
  readonly context: AdvisorContext;
  /** Values for the tools; the model never sees them. */
  readonly toolContext: ToolContextValues;
  /** Aborts when the run is cancelled, or any provider failed or timed out. */
  readonly signal: AbortSignal;
}

/** Tools and nested lists of tools. */
export type ProvidedTools = readonly (Tool | ProvidedTools)[];

/** Options of {@link defineToolProvider}. */
export interface ToolProviderOptions extends Pick<ToolProvider, 'name' | 'timeout'> {
  /** The tools, or a function that returns the tools of a request. */
  readonly tools: ProvidedTools | ToolProvider['tools'];
}

/**
 * Makes a provider.
 * @throws {@link InvalidArgumentError} if the name is blank, a tool is invalid, or the timeout is
 * out of range
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

const TOOLS = rule('an array of tools or a function', Array.isArray);

function constant(given: ProvidedTools | undefined): ToolProvider['tools'] {
  checkOption('defineToolProvider', 'tools', given, TOOLS);
  const tools = flattenTools(given as ProvidedTools, 'defineToolProvider');
  toolsByName(tools); // rejects repeated names now, not at the first request
  return () => tools;
}

/** Checks for the fields that distinguish providers from tools. */
export function isToolProvider(value: unknown): value is ToolProvider {
  const { tools, definition } = (value ?? {}) as Partial<ToolProvider & Tool>;
  return typeof tools === 'function' && definition === undefined;
}

/** @throws {@link InvalidArgumentError} if the name or the timeout of a provider is invalid */
export function checkToolProvider({ name, timeout }: ToolProvider, where: string): void {
  checkOption(where, 'the name of a tool provider', name, TEXT);
  if (timeout !== undefined)
    checkOption(`${where}: tool provider "${name}"`, 'timeout', timeout, TIMEOUT);
}
