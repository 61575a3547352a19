import type { ChatEvent } from './chat-event.js';
import type { ChatResponse } from './chat-response.js';
import { callsOf, type ToolCall } from './message.js';
import type { Prompt } from './prompt.js';
import type { Step, ToolCallRecord } from './run-report.js';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type MutableStep = Omit<Step, 'toolCalls'> & { readonly toolCalls: Mutable<ToolCallRecord>[] };

/** When running calls began, in milliseconds since the epoch; most turns have none. */
const startTimes = new WeakMap<ToolCallRecord, number>();

/** The steps of one tool loop. A retry of the whole turn, or a race, runs several in one run. */
export class LoopRecord {
  readonly steps: MutableStep[] = [];
  /** The calls of the last step, by call and by id. */
  private readonly known = new Map<ToolCall | string, Mutable<ToolCallRecord>>();

  /**
   * @param toolCalls calls of the whole run, to which the loop adds its own
   * @param conversation the conversation so far
   */
  constructor(
    private readonly toolCalls: ToolCallRecord[],
    public conversation: Prompt,
  ) {}

  addStep(index: number, response: ChatResponse): Step {
    const step = { index, response, toolCalls: callsOf(response.message).map(toRecord) };
    if (this.known.size > 0) this.known.clear();
    // as arguments, 100,000 calls exceed the stack
    for (const record of step.toolCalls) this.addToolCall(record);
    this.steps.push(step);
    return step;
  }

  recordToolEvent(event: ChatEvent): void {
    if (event.type !== 'tool-call' && event.type !== 'tool-result') return;
    const record = this.findToolCall(event.call);
    if (event.type === 'tool-call') {
      record.status = 'started';
      startTimes.set(record, Date.now());
    } else {
      const started = startTimes.get(record);
      // an advisor may have replaced its arguments; the checked ones are for events, since a long turn would keep all of them
      if (event.call.arguments !== record.call.arguments) record.call = { ...event.call };
      record.status = 'finished';
      record.result = event.result;
      record.duration = started === undefined ? undefined : Math.max(0, Date.now() - started);
    }
  }

  interrupt(): void {
    for (const { toolCalls } of this.steps) interruptCalls(toolCalls);
  }

  private findToolCall(call: ToolCall): Mutable<ToolCallRecord> {
    const known = this.known.get(call) ?? this.known.get(call.id);
    if (known) return known;
    const record = toRecord(call); // a manager of the application runs calls of its own
    this.addToolCall(record);
    this.steps.at(-1)?.toolCalls.push(record);
    return record;
  }

  private addToolCall(record: Mutable<ToolCallRecord>): void {
    const { call } = record;
    this.toolCalls.push(record);
    this.known.set(call, record);
    if (!this.known.has(call.id)) this.known.set(call.id, record);
  }
}

/** Marks the running calls as unknown: they may have had their effect. */
export function interruptCalls(toolCalls: readonly Mutable<ToolCallRecord>[]): void {
  for (const record of toolCalls) if (record.status === 'started') record.status = 'unknown';
}

function toRecord(call: ToolCall): Mutable<ToolCallRecord> {
  const { name: toolName } = call;
  return { toolName, call, status: 'requested', result: undefined, duration: undefined };
}
