import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import { ToolDefinitionError, ToolProviderError } from '../errors/errors.js';
import { Cancellation, untilCancelled, type Cancellable } from '../internal/cancellation.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  orFunction,
  required,
  rule,
  TEXT,
  TIMEOUT,
} from '../internal/options.js';
import { describe } from '../errors/describe.js';
import { checkTool, flattenTools, toolsByName } from './check-tool.js';
import { nameAsRead } from './hidden-text.js';
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
  const where = 'defineToolProvider';
  checkOptions(where, options, RULES);
  const { name, tools, timeout } = options;
  const provider: ToolProvider = {
    name: name as string,
    tools: typeof tools === 'function' ? (request) => tools(request) : constant(tools, where),
    ...(timeout !== undefined && { timeout }),
  };
  checkToolProvider(provider, where);
  return provider;
}

const TOOL_LIST = rule('an array of tools', Array.isArray);
const RULES = {
  name: CHECKED_APART,
  tools: required(orFunction(TOOL_LIST)),
  timeout: CHECKED_APART,
};

function constant(given: ProvidedTools, where: string): ToolProvider['tools'] {
  const tools = flattenTools(given, where);
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

/** Time limit in milliseconds of providers without one of their own. */
const DEFAULT_TIMEOUT = 30_000;

/** A provider with its position in a list of tools. */
export interface PlacedProvider {
  readonly provider: ToolProvider;
  /** Number of tools before it. */
  readonly at: number;
}

/**
 * Runs all providers of a request in parallel; returns the request's own and the provided tools, in
 * order.
 * @throws {@link ToolProviderError} at the first provider that fails or times out; the signal of
 * the others aborts
 */
export async function provideTools(
  tools: readonly Tool[],
  placed: readonly PlacedProvider[],
  { context, toolContext }: Omit<ToolProviderRequest, 'signal'>,
  run: Cancellable,
): Promise<readonly Tool[]> {
  const cancellation = new Cancellation(undefined, run.owner);
  // a copy: the original may be the defaults of a client, shared by all its requests
  const values = Object.freeze({ ...toolContext });
  const request = { context, toolContext: values, signal: cancellation.signal };
  const release = run.onCancel((reason) => cancellation.cancel(reason));
  try {
    const running = placed.map(({ provider }) => toolsInTime(provider, request, cancellation));
    return joinTools(tools, placed, await Promise.all(running));
  } catch (error) {
    cancellation.cancel(error);
    throw error;
  } finally {
    release();
  }
}

/** The tools of one provider. Results after the time limit or the end of the run are ignored. */
async function toolsInTime(
  provider: ToolProvider,
  request: ToolProviderRequest,
  cancellation: Cancellation,
): Promise<readonly Tool[]> {
  const { name, timeout = DEFAULT_TIMEOUT } = provider;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    if (timeout === Infinity) return;
    const message = `the tool provider "${name}" did not answer within ${timeout} ms`;
    timer = setTimeout(() => reject(new ToolProviderError(message, name)), timeout);
  });
  try {
    const provided = callProvider(provider, request);
    return await untilCancelled(Promise.race([timedOut, provided]), cancellation);
  } finally {
    clearTimeout(timer);
  }
}

async function callProvider(
  provider: ToolProvider,
  request: ToolProviderRequest,
): Promise<readonly Tool[]> {
  if (request.signal.aborted) return []; // an earlier provider may have cancelled the run
  const { name } = provider;
  const where = `the tool provider "${name}"`;
  let provided: unknown;
  try {
    provided = await provider.tools(request);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : describe(cause);
    throw new ToolProviderError(`${where} failed: ${message}`, name, { cause });
  }
  try {
    checkOption(where, 'the result', provided, TOOL_LIST);
    return flattenTools(provided as readonly unknown[], where);
  } catch (cause) {
    throw new ToolProviderError((cause as Error).message, name, { cause });
  }
}

/**
 * @throws {@link ToolProviderError} if tools of two sources have the same name, or names that read
 * alike: a call of the model would be ambiguous
 */
function joinTools(
  tools: readonly Tool[],
  placed: readonly PlacedProvider[],
  provided: readonly (readonly Tool[])[],
): readonly Tool[] {
  const owners = new Map<string, NameOwner>();
  const own = 'a tool of the request or its client';
  for (const { definition } of tools)
    owners.set(nameAsRead(definition.name), { name: definition.name, owner: own });
  placed.forEach(({ provider }, index) => {
    const owner = `one of the tool provider "${provider.name}"`;
    for (const { definition } of provided[index] ?? []) {
      const { name } = definition;
      rejectShadowing({ name, owner }, owners.get(nameAsRead(name)), provider);
      owners.set(nameAsRead(name), { name, owner });
    }
  });
  const joined = [...tools];
  // from the last one, so that the positions of the others stay valid
  for (const [index, { at }] of [...placed.entries()].reverse())
    joined.splice(at, 0, ...(provided[index] ?? []));
  return joined;
}

/** A name with its source. */
interface NameOwner {
  readonly name: string;
  readonly owner: string;
}

/** @throws {@link ToolProviderError} if another source has a tool that a reader takes for this one */
function rejectShadowing(
  { name, owner }: NameOwner,
  taken: NameOwner | undefined,
  provider: ToolProvider,
): void {
  const isSame = taken?.name === name;
  if (!taken || (taken.owner === owner && !isSame)) return;
  const which = isSame ? 'which is also the name of' : `which reads like "${taken.name}",`;
  const message = `the tool provider "${provider.name}" provides a tool "${name}", ${which} ${taken.owner}. Rename one of them or leave it out.`;
  throw new ToolProviderError(message, provider.name);
}

/**
 * Finds a tool that the request does not have; returns undefined if there is none. The model
 * chooses the name: return only tools that the user of this request may use.
 */
export type ToolResolver = (
  name: string,
  request: ToolResolverRequest,
) => Tool | undefined | Promise<Tool | undefined>;

/** The part of a request that a resolver receives. */
export interface ToolResolverRequest {
  /** Values for the advisors. */
  readonly advisorContext: AdvisorContext;
  /** Values for the tools; the model never sees them. */
  readonly toolContext: ToolContextValues;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Calls a resolver.
 * @throws the error of the resolver, {@link InvalidArgumentError} if it returns an invalid tool,
 * {@link ToolDefinitionError} if the tool has another name
 */
export async function resolveTool(
  resolver: ToolResolver,
  name: string,
  request: ToolResolverRequest,
): Promise<Tool | undefined> {
  const tool: unknown = await resolver(name, request);
  if (tool === undefined || tool === null) return undefined;
  checkTool(tool, `the resolver, called with ${describe(name)}`);
  const { name: found } = tool.definition;
  if (found === name) return tool;
  const message = `the resolver was called with ${describe(name)} and returned the tool ${describe(found)}`;
  throw new ToolDefinitionError(message, found);
}
