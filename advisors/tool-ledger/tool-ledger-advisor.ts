import type { Advisor } from '../../src/core/advisor/advisor.js';
import { isCancelled } from '../../src/core/advisor/attempts.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { ToolError } from '../../src/core/errors/errors.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { cancelledError, untilCancelled } from '../../src/core/internal/cancellation.js';
import { checkOption, TEXT } from '../../src/core/internal/options.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { CallLedger, type LedgerEntry } from './call-ledger.js';
import { hasRun, isWithoutEffect } from '../../src/core/tool-execution/call-state.js';
import { reconcileCall, unknownOutcome } from '../../src/core/tool-execution/unknown-outcome.js';
import { checkLedgerOptions, type ToolLedgerAdvisorOptions } from './tool-ledger-options.js';
import { CallContext } from '../../src/core/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';

/** Data of the event `tool-ledger`. */
export interface ToolLedgerEvent {
  readonly toolName: string;
  readonly callId: string;
  /**
   * `replayed`: an earlier attempt gave the result; `unknown`: the call was refused;
   * `unsettled`: the tool has run, but its end could not be recorded.
   */
  readonly outcome: 'replayed' | 'unknown' | 'unsettled';
  /** The error of the store, if the call is unsettled; of `reconcile`, if its outcome is unknown. */
  readonly error?: unknown;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'tool-ledger': ToolLedgerEvent;
  }
}

const NAME = 'ToolLedgerAdvisor';
const WEEK = 604_800_000;

/**
 * Runs each call of an `idempotent` or `write` tool once, also if its turn is retried or runs again
 * after a crash: the call gets its recorded result. Other tools are not affected.
 */
export class ToolLedgerAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['records-tool-calls'] as const;
  private readonly ledger: CallLedger;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: ToolLedgerAdvisorOptions) {
    ({ name: this.name, order: this.order } = checkLedgerOptions(options));
    const { store, lease = 30_000, ttl = WEEK } = options;
    this.ledger = new CallLedger({ store, lease, ttl });
  }

  adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const { effect } = call.tool.metadata;
    return effect === 'write' || effect === 'idempotent' ? this.runOnce(call, next) : next(call);
  }

  private async runOnce(given: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const key = this.workKey(given);
    const call = withKey(given, key);
    const begun = await this.ledger.begin(key, CallContext.cancellationOf(call.context));
    if (begun.state === 'settled') {
      emit(call, 'replayed');
      return begun.result;
    }
    const { state, entry } = begun;
    const decision = state === 'new' ? 'run' : await this.decide(call, entry);
    return decision === 'run' ? this.run(call, next, entry) : this.settle(call, entry, decision);
  }

  /** @throws {@link ToolError} if the call is refused, {@link CancelledError} */
  private async decide(call: ToolInvocation, entry: LedgerEntry): Promise<'run' | ToolResult> {
    if (call.tool.metadata.effect === 'idempotent') return 'run';
    const { reconcile, onUnknown = 'refuse' } = this.options;
    try {
      const { outcome, error } = await reconcileCall(call, reconcile);
      if (typeof outcome !== 'string') return outcome;
      if (outcome === 'not-run' || onUnknown === 'run') return 'run';
      emit(call, 'unknown', error);
      throw unknownOutcome(call, error);
    } catch (error) {
      await entry.leave();
      throw error;
    }
  }

  private async run(
    call: ToolInvocation,
    next: ToolCallHandler,
    entry: LedgerEntry,
  ): Promise<ToolResult> {
    const cancellation = CallContext.cancellationOf(call.context);
    let result: ToolResult;
    try {
      if (cancellation.cancelled) throw new ToolError('Not run.', { cause: cancelledError() });
      result = await untilCancelled(next(call), cancellation);
    } catch (error) {
      // a tool asks before it has its effect
      if (isWithoutEffect(error) || hasCode(error, 'turn_paused')) await this.forget(call, entry);
      else await entry.leave();
      throw error;
    }
    if (hasRun(result)) return this.settle(call, entry, result);
    // an advisor inside has cancelled the call, not the run
    if (isCancelled(result.error)) await entry.leave();
    else await this.forget(call, entry);
    return result;
  }

  /** The tool has run: a failure of the store leaves the call pending, and must not hide the result. */
  private async settle(
    call: ToolInvocation,
    entry: LedgerEntry,
    result: ToolResult,
  ): Promise<ToolResult> {
    await settled(call, entry.settle(result));
    return result;
  }

  private forget(call: ToolInvocation, entry: LedgerEntry): Promise<void> {
    return settled(call, entry.forget());
  }

  private workKey(call: ToolInvocation): string {
    const own = this.options.key?.(call);
    if (own === undefined) return call.context.idempotencyKey;
    checkOption(NAME, 'the result of key', own, TEXT);
    return sha256Hex(JSON.stringify([call.call.name, own]));
  }
}

/** The tool must get the key under which its work is recorded. */
function withKey(call: ToolInvocation, idempotencyKey: string): ToolInvocation {
  if (call.context.idempotencyKey === idempotencyKey) return call;
  return { ...call, context: { ...call.context, idempotencyKey } };
}

async function settled(call: ToolInvocation, recorded: Promise<boolean>): Promise<void> {
  try {
    if (!(await recorded)) emit(call, 'unsettled');
  } catch (error) {
    emit(call, 'unsettled', error);
  }
}

function emit({ call, context }: ToolInvocation, outcome: Outcome, error?: unknown): void {
  const data = { toolName: call.name, callId: call.id, outcome };
  context.emit({
    type: 'custom',
    name: 'tool-ledger',
    data: error === undefined ? data : { ...data, error },
  });
}

type Outcome = ToolLedgerEvent['outcome'];
