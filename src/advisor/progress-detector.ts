import { callsOf, type ChatResponse } from '../chat/chat-response.js';
import { textOf, type ToolCall } from '../chat/message.js';
import { argumentsKey, sameCalls } from '../tool-execution/call-arguments.js';
import type { LimitBreach } from '../tool-execution/call-limits.js';
import {
  withNote,
  type ExecutedToolCall,
  type ToolExecutionResult,
} from '../tool-execution/execution-result.js';
import { toolsByName } from '../tool/check-tool.js';
import type { Tool } from '../tool/tool.js';

/**
 * Measures against a model that goes round in circles, each after a number of consecutive iterations
 * that brought nothing new, >= 1, or `Infinity` for never.
 */
export interface NoProgressOptions {
  /** A note in the last result asks the model to do something else. @default 3 */
  readonly hintAfter?: number | undefined;
  /** The tools of these iterations are not offered any more in this turn. @default 6 */
  readonly toolOffAfter?: number | undefined;
  /** The turn ends by `onLimit`. @default 8 */
  readonly answerAfter?: number | undefined;
}

/** Settings of a {@link ProgressDetector}; see the options of `ToolCallingAdvisor`. */
export interface ProgressSettings {
  readonly maxIdenticalCalls: number;
  readonly hintAfter: number;
  readonly toolOffAfter: number;
  readonly answerAfter: number;
}

/** The consequence of an iteration. */
export interface ProgressMeasure {
  /** The results, with a note for the model if there is one. */
  readonly result: ToolExecutionResult;
  /** Names of tools that the model must not be offered any more. */
  readonly toolsOff?: ReadonlySet<string>;
  /** The limit that ends the turn. */
  readonly breach?: LimitBreach;
}

/** An iteration to compare later ones with. */
interface Seen {
  readonly calls: readonly ToolCall[];
  readonly text: string | undefined;
  readonly facts: ReadonlySet<string>;
}

type ToolIndex = ReadonlyMap<string, Tool>;

/** Number of iterations that are remembered: a long turn may read something again on purpose. */
const WINDOW = 8;

/**
 * Finds out that a turn makes no progress: the same calls in a row, or iterations that bring nothing
 * new. Calls of tools with `polls` do not count.
 */
export class ProgressDetector {
  /** Number of consecutive responses with exactly the last calls. */
  private repeats = 0;
  private lastCalls: readonly ToolCall[] = [];
  /** Number of consecutive iterations that brought nothing new. */
  private stale = 0;
  private seen: readonly Seen[] = [];
  /** Tools of the stale iterations. */
  private suspects = new Set<string>();
  private readonly off = new Set<string>();

  constructor(private readonly settings: ProgressSettings) {}

  /** The limit for which none of the calls of a response may run. */
  refusal(calls: readonly ToolCall[], tools: readonly Tool[]): LimitBreach | undefined {
    const counted = withoutPolls(calls, toolsByName(tools));
    const isRepeated = counted.length > 0 && sameCalls(counted, this.lastCalls);
    this.repeats = isRepeated ? this.repeats + 1 : 1;
    this.lastCalls = counted;
    const { maxIdenticalCalls: max } = this.settings;
    return this.repeats > max ? { limit: 'identical-calls', max, toolName: undefined } : undefined;
  }

  /** Takes the results of a response; to be called after {@link refusal}. */
  measure(
    response: ChatResponse,
    result: ToolExecutionResult,
    tools: readonly Tool[],
  ): ProgressMeasure {
    const { maxIdenticalCalls: max, hintAfter, toolOffAfter, answerAfter } = this.settings;
    // the second repetition after the warning ends the turn
    if (this.repeats > max + 1)
      return { result, breach: { limit: 'identical-calls', max, toolName: undefined } };
    if (this.repeats > max || Math.min(hintAfter, toolOffAfter, answerAfter) === Infinity)
      return { result };
    if (!this.count(response, result, toolsByName(tools))) return { result };
    if (this.stale >= answerAfter)
      return { result, breach: { limit: 'no-progress', max: answerAfter, toolName: undefined } };
    if (this.stale === toolOffAfter) return this.takeSuspectsOff(result);
    return this.stale === hintAfter ? { result: withNote(result, HINT) } : { result };
  }

  /** Compares an iteration with those before it; returns true if it brought nothing new. */
  private count(response: ChatResponse, result: ToolExecutionResult, tools: ToolIndex): boolean {
    const executed = result.results.filter(({ call }) => !isPolling(call, tools));
    if (executed.length === 0) return false; // the model waits for something
    const calls = callsOf(response);
    const text = response.text?.trim() || undefined;
    const facts = executed.map((each) => factOf(each, tools));
    const isStale =
      facts.every((fact, at) => this.isKnown(fact, executed[at] as ExecutedToolCall)) ||
      (text !== undefined &&
        this.seen.some((each) => each.text === text && sameCalls(each.calls, calls)));
    const known = new Set(facts.filter((fact) => fact !== undefined));
    this.seen = [...this.seen, { calls, text, facts: known }].slice(-WINDOW);
    this.stale = isStale ? this.stale + 1 : 0;
    if (!isStale) this.suspects.clear();
    else for (const { call } of executed) this.suspects.add(call.name);
    return isStale;
  }

  private isKnown(fact: string | undefined, { call }: ExecutedToolCall): boolean {
    if (this.off.has(call.name)) return true;
    return fact !== undefined && this.seen.some(({ facts }) => facts.has(fact));
  }

  private takeSuspectsOff(result: ToolExecutionResult): ProgressMeasure {
    for (const name of this.suspects) this.off.add(name);
    const names = [...this.suspects].map((name) => `"${name}"`).join(', ');
    return {
      result: withNote(result, `${HINT} Not available any more: ${names}.`),
      toolsOff: this.off,
    };
  }
}

const HINT =
  '[The last tool calls brought nothing new. Do something else, or answer with what you have.]';

function isPolling({ name }: ToolCall, tools: ToolIndex): boolean {
  return tools.get(name)?.metadata.polls === true;
}

function withoutPolls(calls: readonly ToolCall[], tools: ToolIndex): readonly ToolCall[] {
  return calls.some((call) => isPolling(call, tools))
    ? calls.filter((call) => !isPolling(call, tools))
    : calls;
}

/**
 * A text that is equal for results that are not new: an error, or a reading,
 * whatever the arguments were; for other tools "done" is another result for each call. Undefined
 * for a result with media.
 */
function factOf({ call, result }: ExecutedToolCall, tools: ToolIndex): string | undefined {
  const { content, isError } = result;
  if (typeof content !== 'string' && content.some(({ type }) => type !== 'text')) return undefined;
  const text = textOf(content);
  // the text of an unknown error ends with the id of the call
  if (isError)
    return `${call.name} failed ${text.endsWith(call.id) ? text.slice(0, -call.id.length) : text}`;
  const isReading = tools.get(call.name)?.metadata.effect === 'read';
  return `${call.name} ${isReading ? 'read' : argumentsKey(call)} ${text}`;
}
