import { AdvisorOrder, type Advisor } from '../src/advisor/advisor.js';
import { isCancelled } from '../src/advisor/attempts.js';
import type { ToolResult } from '../src/chat/chat-event.js';
import { ToolError } from '../src/errors.js';
import { hasCode } from '../src/errors/advisor-chain-error.js';
import { cancelledError, untilCancelled } from '../src/internal/cancellation.js';
import { checkOption, TEXT } from '../src/internal/options.js';
import { sha256Hex } from '../src/internal/text.js';
import { CallLedger, type LedgerEntry } from '../src/recorded-calls/call-ledger.js';
import { hasRun, isWithoutEffect, unknownOutcome } from '../src/recorded-calls/call-outcome.js';
import {
  checkLedgerOptions,
  OUTCOME,
  type ToolLedgerAdvisorOptions,
} from '../src/recorded-calls/tool-ledger-options.js';
import { CallContext } from '../src/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../src/tool/tool.js';

/** Data of the event `tool-ledger`. */
export interface ToolLedgerEvent {
  readonly toolName: string;
  readonly callId: string;
  /**
   * `replayed`: the result is that of an earlier attempt; `unknown`: the call was refused;
   * `unsettled`: the tool has run, but its end could not be recorded.
   */
  readonly outcome: 'replayed' | 'unknown' | 'unsettled';
  /** The error of the store, if the call is unsettled. */
  readonly error?: unknown;
}

declare module '../src/chat/chat-event.js' {
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
    checkLedgerOptions(options, NAME);
    const { store, lease = 30_000, ttl = WEEK, name, order } = options;
    this.ledger = new CallLedger({ store, lease, ttl });
    this.name = name ?? 'tool-ledger';
    this.order = order ?? AdvisorOrder.LOGGER + 500;
  }

  adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const { effect } = call.tool.metadata;
    return effect === 'write' || effect === 'idempotent' ? this.runOnce(call, next) : next(call);
  }

  private async runOnce(given: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const key = this.keyOf(given);
    const call = withKey(given, key);
    const begun = await this.ledger.begin(key, CallContext.cancellationOf(call.context));
    if (begun.state === 'settled') {
      emit(call, 'replayed');
      return begun.result;
    }
    const { state, entry } = begun;
    const decision = state === 'new' ? 'run' : await this.decide(call, entry);
    if (decision === 'run') return this.run(call, next, entry);
    if (decision !== 'refuse') return this.settle(call, entry, decision);
    await entry.leave();
    emit(call, 'unknown');
    throw unknownOutcome(call);
  }

  /** @throws the error of the function, {@link InvalidArgumentError} if it returns something else */
  private async decide(
    call: ToolInvocation,
    entry: LedgerEntry,
  ): Promise<'refuse' | 'run' | ToolResult> {
    const { onUnknown = 'refuse' } = this.options;
    if (call.tool.metadata.effect === 'idempotent') return 'run';
    try {
      if (typeof onUnknown !== 'function') return onUnknown;
      const decision = await onUnknown(call);
      checkOption(NAME, 'the result of onUnknown', decision, OUTCOME);
      return decision;
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

  /** The effect is there: a failure of the store leaves the call pending, and must not hide the result. */
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

  private keyOf(call: ToolInvocation): string {
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
