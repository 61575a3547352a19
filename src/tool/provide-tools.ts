import { Cancellation, type Cancellable } from '../chat/cancellation.js';
import { describe } from '../chat/message.js';
import { CancelledError, ToolProviderError } from '../errors.js';
import { flattenTools } from './check-tool.js';
import type { ToolProvider, ToolProviderRequest } from './tool-provider.js';
import type { Tool } from './tool.js';

/** Milliseconds, for providers without a timeout of their own. */
const TIMEOUT = 30_000;

/** A provider among tools. */
export interface PlacedProvider {
  readonly provider: ToolProvider;
  /** How many tools stand before it. */
  readonly at: number;
}

type ProviderValues = Omit<ToolProviderRequest, 'signal'>;

/**
 * Asks all providers of a request at the same time; gives its tools and theirs in order.
 * @throws {@link ToolProviderError} at the first provider that fails or is late; the signal of the others aborts
 */
export async function provideTools(
  tools: readonly Tool[],
  placed: readonly PlacedProvider[],
  { context, toolContext }: ProviderValues,
  run: Cancellable,
): Promise<readonly Tool[]> {
  // a copy: the original may be the defaults of a client, shared by all its requests
  const values = { context, toolContext: Object.freeze({ ...toolContext }) };
  const work = new Cancellation();
  const release = run.onCancel((reason) => work.cancel(reason));
  try {
    const provided = await Promise.all(placed.map(({ provider }) => ask(provider, values, work)));
    return join(tools, placed, provided);
  } catch (error) {
    work.cancel(error);
    throw error;
  } finally {
    release();
  }
}

/** The tools of one provider. What it does after its time, or after the run, is ignored. */
async function ask(provider: ToolProvider, values: ProviderValues, work: Cancellation): Promise<readonly Tool[]> {
  const { name, timeout = TIMEOUT } = provider;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let release: (() => void) | undefined;
  const end = new Promise<never>((_resolve, reject) => {
    release = work.onCancel((cause) => reject(new CancelledError('The run was cancelled.', { cause })));
    const late = (): void => reject(new ToolProviderError(`the tool provider "${name}" did not answer within ${timeout} ms`, name));
    if (timeout !== Infinity) timer = setTimeout(late, timeout);
  });
  try {
    return checked(await Promise.race([end, answerOf(provider, values, work)]), name);
  } finally {
    clearTimeout(timer);
    release?.();
  }
}

async function answerOf(provider: ToolProvider, values: ProviderValues, work: Cancellation): Promise<unknown> {
  // the one before may have cancelled the run
  if (work.cancelled) return undefined;
  try {
    return await provider.tools({
      ...values,
      get signal() {
        return work.signal;
      },
    });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : describe(cause);
    throw new ToolProviderError(`the tool provider "${provider.name}" failed: ${message}`, provider.name, { cause });
  }
}

function checked(given: unknown, name: string): readonly Tool[] {
  const where = `the tool provider "${name}"`;
  if (!Array.isArray(given)) throw new ToolProviderError(`${where} must give an array of tools, not ${describe(given)}`, name);
  try {
    return flattenTools(given, where);
  } catch (cause) {
    throw new ToolProviderError((cause as Error).message, name, { cause });
  }
}

/** All tools in order. @throws {@link ToolProviderError} if two have one name: the model could not say which it means */
function join(tools: readonly Tool[], placed: readonly PlacedProvider[], provided: readonly (readonly Tool[])[]): readonly Tool[] {
  const owners = new Map<string, string | undefined>(tools.map(({ definition }) => [definition.name, undefined]));
  let from = 0;
  const joined = placed.flatMap(({ provider, at }, index) => {
    const own = provided[index] ?? [];
    for (const { definition } of own) claim(definition.name, provider.name, owners);
    const before = tools.slice(from, at);
    from = at;
    return [...before, ...own];
  });
  return [...joined, ...tools.slice(from)];
}

function claim(tool: string, provider: string, owners: Map<string, string | undefined>): void {
  if (owners.has(tool)) {
    const owner = owners.get(tool);
    const other = owner === undefined ? 'a tool of the request or its client' : `one of the tool provider "${owner}"`;
    const message = `the tool provider "${provider}" gave a tool "${tool}", which is also the name of ${other}. Rename one of them or leave it out.`;
    throw new ToolProviderError(message, provider);
  }
  owners.set(tool, provider);
}
