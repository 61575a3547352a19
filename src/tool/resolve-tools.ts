import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import { ToolDefinitionError, ToolProviderError } from '../errors.js';
import { Cancellation, cancelledError, type Cancellable } from '../internal/cancellation.js';
import { describe } from '../internal/text.js';
import { checkTool, flattenTools } from './check-tool.js';
import type { ToolProvider, ToolProviderRequest } from './tool-provider.js';
import type { Tool } from './tool.js';

/** Time limit in milliseconds of providers without one of their own. */
const TIMEOUT = 30_000;

/** A provider with its position in a list of tools. */
export interface PlacedProvider {
  readonly provider: ToolProvider;
  /** Number of tools before it. */
  readonly at: number;
}

type ProviderValues = Omit<ToolProviderRequest, 'signal'>;

/**
 * Runs all providers of a request in parallel; returns the request's own and the provided tools, in
 * order.
 * @throws {@link ToolProviderError} at the first provider that fails or times out; the signal of
 * the others aborts
 */
export async function provideTools(
  tools: readonly Tool[],
  placed: readonly PlacedProvider[],
  { context, toolContext }: ProviderValues,
  run: Cancellable,
): Promise<readonly Tool[]> {
  // a copy: the original may be the defaults of a client, shared by all its requests
  const values = { context, toolContext: Object.freeze({ ...toolContext }) };
  const cancellation = new Cancellation();
  const release = run.onCancel((reason) => cancellation.cancel(reason));
  try {
    const running = placed.map(({ provider }) => toolsInTime(provider, values, cancellation));
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
  values: ProviderValues,
  cancellation: Cancellation,
): Promise<readonly Tool[]> {
  const { name, timeout = TIMEOUT } = provider;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let release: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    release = cancellation.onCancel((cause) => reject(cancelledError(cause)));
    if (timeout === Infinity) return;
    const message = `the tool provider "${name}" did not answer within ${timeout} ms`;
    timer = setTimeout(() => reject(new ToolProviderError(message, name)), timeout);
  });
  try {
    const provided = callProvider(provider, values, cancellation);
    return checkedTools(await Promise.race([aborted, provided]), name);
  } finally {
    clearTimeout(timer);
    release?.();
  }
}

async function callProvider(
  provider: ToolProvider,
  values: ProviderValues,
  cancellation: Cancellation,
): Promise<unknown> {
  if (cancellation.cancelled) return undefined; // an earlier provider may have cancelled the run
  try {
    return await provider.tools({
      ...values,
      get signal() {
        return cancellation.signal;
      },
    });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : describe(cause);
    throw new ToolProviderError(
      `the tool provider "${provider.name}" failed: ${message}`,
      provider.name,
      { cause },
    );
  }
}

function checkedTools(provided: unknown, name: string): readonly Tool[] {
  const where = `the tool provider "${name}"`;
  if (!Array.isArray(provided)) {
    const message = `${where} must return an array of tools, not ${describe(provided)}`;
    throw new ToolProviderError(message, name);
  }
  try {
    return flattenTools(provided, where);
  } catch (cause) {
    throw new ToolProviderError((cause as Error).message, name, { cause });
  }
}

/**
 * @throws {@link ToolProviderError} if two tools have the same name: a call of the model would be
 * ambiguous
 */
function joinTools(
  tools: readonly Tool[],
  placed: readonly PlacedProvider[],
  provided: readonly (readonly Tool[])[],
): readonly Tool[] {
  const owners = new Map(tools.map(({ definition }) => [definition.name, REQUEST]));
  let from = 0;
  const joined = placed.flatMap(({ provider, at }, index) => {
    const own = provided[index] ?? [];
    for (const { definition } of own) claimName(definition.name, provider.name, owners);
    const before = tools.slice(from, at);
    from = at;
    return [...before, ...own];
  });
  return [...joined, ...tools.slice(from)];
}

const REQUEST = 'a tool of the request or its client';

function claimName(tool: string, provider: string, owners: Map<string, string>): void {
  const owner = owners.get(tool);
  if (owner !== undefined) {
    const message = `the tool provider "${provider}" provides a tool "${tool}", which is also the name of ${owner}. Rename one of them or leave it out.`;
    throw new ToolProviderError(message, provider);
  }
  owners.set(tool, `one of the tool provider "${provider}"`);
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
