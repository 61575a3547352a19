import { AdvisorOrder, type Advisor } from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { Cancellation, onAbort } from '../../src/core/internal/cancellation.js';
import { jsonData } from '../../src/core/internal/json-data.js';
import { canonicalJson } from '../../src/core/internal/json.js';
import { memoize } from '../../src/core/internal/memoize.js';
import {
  checkOption,
  FUNCTION,
  integer,
  POSITIVE,
  required,
  rule,
  TEXT,
  withMethods,
} from '../../src/core/internal/options.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { ResultCache } from './result-cache.js';
import { CallContext } from '../../src/core/tool-execution/tool-context.js';
import { toolFingerprint } from '../../src/core/tool/pin-tools.js';
import type {
  Tool,
  ToolCallHandler,
  ToolInvocation,
  ToolMetadata,
} from '../../src/core/tool/tool.js';

/** Options of a {@link ToolCacheAdvisor}. */
export interface ToolCacheAdvisorOptions extends AdvisorPlace {
  /**
   * Returns the owner of the result of a call, such as the id of the user or the tenant; undefined:
   * the result is not cached. Calls of different scopes never share a result.
   */
  readonly scope: (call: ToolInvocation) => string | undefined;
  /** Names of the tools; calls of tools without the effect `read` are never cached. @default all */
  readonly tools?: readonly string[] | undefined;
  /** Store of the results. @default the last 1,000 results, in memory */
  readonly store?: KeyValueStore | undefined;
  /** Lifetime of a result in milliseconds, > 0. @default 300_000 */
  readonly ttl?: number | undefined;
  /** Maximum number of characters of a result, as JSON, >= 1; longer ones are not cached. @default 100_000 */
  readonly maxLength?: number | undefined;
  /** Position around tool calls; next to the tool by default. @default AdvisorOrder.LOGGER + 500 */
  readonly order?: number | undefined;
}

/** Data of the event `tool-cache`. */
export interface ToolCacheEvent {
  readonly toolName: string;
  readonly callId: string;
  /**
   * `hit`: the result is from the store; `shared`: from an equal call that was running; `failed`: the
   * store failed, and the call did without it.
   */
  readonly outcome: 'hit' | 'shared' | 'failed';
  /** The error of the store. */
  readonly error?: unknown;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'tool-cache': ToolCacheEvent;
  }
}

const NAME = 'ToolCacheAdvisor';
const RULES = {
  scope: required(FUNCTION),
  tools: rule('an array of names', (value) => Array.isArray(value) && value.every(TEXT.accepts)),
  store: withMethods('a KeyValueStore', 'get', 'set'),
  ttl: POSITIVE,
  maxLength: integer(1),
};

/**
 * Keeps results of tools with the effect `read`, and runs equal calls that overlap once. Errors are
 * not kept.
 */
export class ToolCacheAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['records-tool-calls'] as const;
  private readonly cache: ResultCache;
  private readonly tools: ReadonlySet<string> | undefined;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: ToolCacheAdvisorOptions) {
    const place = { name: 'tool-cache', order: AdvisorOrder.LOGGER + 500 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    const { ttl = 300_000, maxLength = 100_000, tools } = options;
    const store = options.store ?? new InMemoryKeyValueStore({ maxKeys: 1_000, onFull: 'evict' });
    this.cache = new ResultCache({ store, ttl, maxLength });
    this.tools = tools && new Set(tools);
  }

  async adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const key = this.cacheKey(call);
    if (key === undefined) return next(call);
    const { context } = call;
    const cached = await this.cache.get(key, {
      signal: context.signal,
      call: (signal) => next({ ...call, context: withSignal(context, signal) }),
      onError: (error) => emit(call, 'failed', error),
    });
    if (!cached) return next(call);
    if (cached.source === 'store') emit(call, 'hit');
    if (cached.source === 'shared') emit(call, 'shared');
    return cached.result;
  }

  /** Undefined if the call must not be cached. */
  private cacheKey(call: ToolInvocation): string | undefined {
    const { definition, metadata } = call.tool;
    if (metadata.effect !== 'read' || !isCacheable(metadata)) return undefined;
    if (this.tools && !this.tools.has(definition.name)) return undefined;
    const scope = this.options.scope(call);
    const args = scope === undefined ? undefined : jsonData(call.arguments);
    if (scope === undefined || args === undefined) return undefined;
    checkOption(NAME, 'the result of scope', scope, TEXT);
    const parts = [scope, fingerprintOf(call.tool), canonicalJson(args)];
    return `tool-result ${sha256Hex(JSON.stringify(parts))}`;
  }
}

/** A search tool finds among the tools of its request, and a tool that polls waits for a change. */
function isCacheable({ cacheable, findsTools, polls }: ToolMetadata): boolean {
  return cacheable !== false && !findsTools && !polls;
}

const fingerprintOf = memoize((tool: Tool) => toolFingerprint(tool));

/** The context of a call that other runs may wait for; its nested runs belong to the first one. */
function withSignal(context: ToolInvocation['context'], signal: AbortSignal) {
  const { owner } = CallContext.cancellationOf(context);
  const cancellation = new Cancellation(undefined, owner);
  onAbort(signal, () => cancellation.cancel(signal.reason));
  return CallContext.withLimit(context, cancellation, context);
}

function emit(
  { call, context }: ToolInvocation,
  outcome: ToolCacheEvent['outcome'],
  error?: unknown,
): void {
  const data = { toolName: call.name, callId: call.id, outcome };
  context.emit({
    type: 'custom',
    name: 'tool-cache',
    data: error === undefined ? data : { ...data, error },
  });
}
