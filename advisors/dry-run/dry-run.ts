import { AdvisorOrder, type Advisor } from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import { defineAdvisor } from '../../src/core/advisor/define-advisor.js';
import { withTrait } from '../../src/core/advisor/hazards.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { RunRecord } from '../../src/core/chat/run-record.js';
import { RunSlot } from '../../src/core/chat/context.js';
import { FUNCTION, oneOf, rule } from '../../src/core/internal/options.js';
import { isRecordedCall, Playback, type RecordedCall } from './recording.js';
import { runOf } from '../../src/core/tool-execution/tool-context.js';
import { resultText } from '../../src/core/tool/result-text.js';
import { isToolResult } from '../../src/core/tool/tool-result.js';
import type { ToolInvocation } from '../../src/core/tool/tool.js';

/** Options of {@link dryRun}. */
export interface DryRunOptions extends AdvisorPlace {
  /**
   * Calls of an earlier run, such as in `response.steps`: a call with the name and arguments of
   * a recorded one gets its result.
   * @default none
   */
  readonly recording?: readonly RecordedCall[] | undefined;
  /**
   * Answers calls that are not recorded, in place of the tool; may return `toolResult(…)`. Undefined:
   * the call is refused.
   * @default refuses all
   */
  readonly answer?: ((call: ToolInvocation) => unknown) | undefined;
  /** Runs tools with the effect `read`, or simulates them like all others. @default 'run' */
  readonly reads?: 'run' | 'simulate' | undefined;
  /** Position around tool calls; left of a ledger. @default AdvisorOrder.LOGGER + 400 */
  readonly order?: number | undefined;
}

/** Data of the event `dry-run`: a call that was not made. */
export interface DryRunEvent {
  readonly toolName: string;
  readonly callId: string;
  /** The checked arguments. */
  readonly arguments: unknown;
  /** Source of the result. */
  readonly answeredBy: 'recording' | 'function' | 'refusal';
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'dry-run': DryRunEvent;
  }
}

const RULES = {
  recording: rule(
    'an array of calls with their results',
    (value) => Array.isArray(value) && value.every(isRecordedCall),
  ),
  answer: FUNCTION,
  reads: oneOf('run', 'simulate'),
};
const REFUSAL: ToolResult = {
  content: 'Not run: this is a dry run, in which nothing is changed.',
  isError: true,
};

/**
 * Runs turns without effects: of all tools only those with the effect `read` run, also in a loop by
 * hand. A tool that declares no effect may have one.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function dryRun(options: DryRunOptions = {}): Advisor {
  const defaults = { name: 'dry-run', order: AdvisorOrder.LOGGER + 400 };
  const place = placeOf('dryRun', options, RULES, defaults);
  const { recording = [], answer, reads = 'run' } = options;
  const playbacks = new RunSlot<Playback>();
  const recorded = ({ call, context }: ToolInvocation): ToolResult | undefined => {
    const run = runOf(context) ?? new RunRecord();
    const playback = playbacks.get(run) ?? playbacks.set(run, new Playback(recording));
    return playback.resultOf(call);
  };
  return defineAdvisor({
    ...place,
    hazards: ({ left }) => [
      withTrait(left, 'records-tool-calls') &&
        `"${place.name}" simulates tool calls inside an advisor that records them: the next real turn gets the simulated results; give it a lower order`,
    ],
    aroundTool: async (call, next) => {
      if (reads === 'run' && call.tool.metadata.effect === 'read') return next(call);
      const known = recorded(call);
      if (known) return report(call, 'recording', known);
      const value = await answer?.(call);
      if (value === undefined) return report(call, 'refusal', REFUSAL);
      const result = isToolResult(value) ? value : { content: resultText(value), value };
      return report(call, 'function', result);
    },
  });
}

function report(
  { call, arguments: args, context }: ToolInvocation,
  answeredBy: DryRunEvent['answeredBy'],
  result: ToolResult,
): ToolResult {
  const data = { toolName: call.name, callId: call.id, arguments: args, answeredBy };
  context.emit({ type: 'custom', name: 'dry-run', data });
  return result;
}
