import type { ToolResult } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { textOf, type ToolCall } from '../chat/message.js';
import { argumentsKey } from '../tool-execution/call-identity.js';
import { breachOf, type LimitBreach } from '../tool-execution/call-limits.js';
import { withNote, type ToolExecutionResult } from '../tool-execution/execution-result.js';
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
  readonly breach?: LimitBreach | undefined;
}

/** The text and the calls of an iteration that only read something. */
interface Reading {
  readonly text: string;
  readonly calls: readonly ComparedCall[];
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
  private lastCalls: readonly ComparedCall[] = [];
  /** Number of consecutive iterations that brought nothing new. */
  private stale = 0;
  /** The findings of each iteration. */
  private seen: readonly (readonly Finding[])[] = [];
  /** Since the last effect, after which the same call is another one. */
  private readings: readonly Reading[] = [];
  /** Tools of the stale iterations. */
  private suspects = new Set<string>();
  private readonly off = new Set<string>();

  constructor(private readonly settings: ProgressSettings) {}

  /** The limit for which none of the calls of a response may run. */
  refusal(calls: readonly ToolCall[], tools: readonly Tool[]): LimitBreach | undefined {
    const byName = toolsByName(tools);
    const counted = calls
      .filter((call) => !isPolling(call, byName))
      .map((call) => new ComparedCall(call));
    const isRepeated = counted.length > 0 && sameCalls(counted, this.lastCalls);
    this.repeats = isRepeated ? this.repeats + 1 : 1;
    this.lastCalls = counted;
    const { maxIdenticalCalls: max } = this.settings;
    return this.repeats > max ? breachOf('identical-calls', max, this.repeats) : undefined;
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
      return { result, breach: breachOf('identical-calls', max, this.repeats) };
    if (this.repeats > max || Math.min(hintAfter, toolOffAfter, answerAfter) === Infinity)
      return { result };
    if (!this.count(response, result, toolsByName(tools))) return { result };
    if (this.stale >= answerAfter)
      return { result, breach: breachOf('no-progress', answerAfter, this.stale) };
    if (this.stale === toolOffAfter) return this.takeSuspectsOff(result);
    return this.stale === hintAfter ? { result: withNote(result, HINT) } : { result };
  }

  /** Compares an iteration with those before it; returns true if it brought nothing new. */
  private count(
    { text }: ChatResponse,
    { results }: ToolExecutionResult,
    tools: ToolIndex,
  ): boolean {
    if (!results.every(({ call }) => isReading(call, tools))) this.readings = [];
    const executed = results.filter(({ call }) => !isPolling(call, tools));
    if (executed.length === 0) return false; // the model waits for something
    const calls = executed.map(({ call }, at) => this.toCompared(call, at));
    const findings = executed.map(({ result }, at) => {
      const compared = calls[at] as ComparedCall;
      return new Finding(compared, result, isReading(compared.call, tools));
    });
    const isKnown = findings.every((finding, at) => this.isKnown(finding, at));
    const isStale = this.isRepeated(text?.trim(), calls) || isKnown;
    this.seen = [...this.seen, findings].slice(-WINDOW);
    this.stale = isStale ? this.stale + 1 : 0;
    if (!isStale) this.suspects.clear();
    else for (const { call } of executed) this.suspects.add(call.name);
    return isStale;
  }

  /** The call as {@link refusal} has compared it; a manager may report another one. */
  private toCompared(call: ToolCall, at: number): ComparedCall {
    const last = this.lastCalls[at];
    return last?.call === call ? last : new ComparedCall(call);
  }

  private isKnown(finding: Finding, at: number): boolean {
    if (this.off.has(finding.call.name)) return true;
    // most models repeat a batch in its order
    const isSeen =
      this.seen.some((findings) => findings[at]?.equals(finding)) ||
      this.seen.some((findings) =>
        findings.some((each, other) => other !== at && each.equals(finding)),
      );
    return isSeen && !this.seen.flat().some((each) => each.contradicts(finding));
  }

  /** True if the model reads the same with the same words as before; results may have the time. */
  private isRepeated(text: string | undefined, calls: readonly ComparedCall[]): boolean {
    if (!text) return false;
    const same = this.readings.some((each) => each.text === text && sameCalls(each.calls, calls));
    this.readings = [...this.readings, { text, calls }].slice(-WINDOW);
    return same;
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

function isReading({ name }: ToolCall, tools: ToolIndex): boolean {
  return tools.get(name)?.metadata.effect === 'read';
}

/** A call to compare with several others: its arguments are parsed once, if their texts differ. */
export class ComparedCall {
  private key: string | undefined;

  constructor(readonly call: ToolCall) {}

  equals(other: ComparedCall): boolean {
    if (this.call.name !== other.call.name) return false;
    return this.call.arguments === other.call.arguments || this.toKey() === other.toKey();
  }

  private toKey(): string {
    return (this.key ??= argumentsKey(this.call));
  }
}

/** Compares two batches by their names and arguments as values. */
export function sameCalls(a: readonly ComparedCall[], b: readonly ComparedCall[]): boolean {
  return a.length === b.length && a.every((call, at) => call.equals(b[at] as ComparedCall));
}

/** A boolean or a number answers its arguments: `true` for another file is something new. */
const VALUE = /^\s*(?:true|false|-?\d[\d.,]*)\s*$/;
const MAX_VALUE_LENGTH = 40;

/**
 * The result of a call, to compare with others: of an error, or of a reading, whatever the arguments
 * were; for other tools "done" is another result for each call.
 */
class Finding {
  /** Undefined for a result with media, which is always new. */
  private readonly text: string | undefined;
  private readonly isError: boolean;
  private readonly hasArguments: boolean;

  constructor(
    private readonly compared: ComparedCall,
    { content, isError = false }: ToolResult,
    isReading: boolean,
  ) {
    const { id } = compared.call;
    const isText = typeof content === 'string' || content.every(({ type }) => type === 'text');
    const text = isText ? textOf(content) : undefined;
    // the text of an unknown error ends with the id of the call
    this.text = isError && text?.endsWith(id) ? text.slice(0, -id.length) : text;
    this.isError = isError;
    this.hasArguments = !isError && !(isReading && !isValue(text));
  }

  get call(): ToolCall {
    return this.compared.call;
  }

  equals(other: Finding): boolean {
    if (this.text === undefined || this.text !== other.text) return false;
    if (this.call.name !== other.call.name || this.isError !== other.isError) return false;
    return !this.hasArguments || this.compared.equals(other.compared);
  }

  /** True for another result of the same call: a tool whose answers change may be asked again. */
  contradicts(other: Finding): boolean {
    const differs = this.text !== other.text || this.isError !== other.isError;
    return differs && this.compared.equals(other.compared);
  }
}

function isValue(text = ''): boolean {
  return text.length <= MAX_VALUE_LENGTH && VALUE.test(text);
}
