import type { CustomEvent } from '../chat/chat-event.js';
import { RunSlot, type AdvisorContext } from '../chat/context.js';
import type { Message } from '../chat/message.js';
import type { RunRecord } from '../chat/run-record.js';
import type { Cancellable } from '../internal/cancellation.js';

/** A text that others wrote, on its way to a model. */
export interface UntrustedText {
  readonly text: string;
  /** Name of the advisor or the tool that brings it. */
  readonly origin: string;
  /** The run whose model gets it. */
  readonly run: RunRecord;
  readonly context: AdvisorContext;
  readonly cancellation: Cancellable;
  readonly emit: (event: CustomEvent) => void;
}

/** Judges a text: returns it as a model may get it, or undefined if no model may. */
export type TextJudge = (text: UntrustedText) => Promise<string | undefined>;

/** The judges of a run by name, in order. */
const JUDGES = new RunSlot<Map<string, TextJudge>>();

/** Lets a guard judge each text that the advisors and tools of a run, and of runs within it, bring. */
export function judgeUntrustedTexts(run: RunRecord, name: string, judge: TextJudge): void {
  const judges = JUDGES.get(run) ?? JUDGES.set(run, new Map<string, TextJudge>());
  judges.set(name, judge);
}

/**
 * The text as the guards of its run let it pass; undefined if one of them withholds it.
 * @throws the error of a guard that ends the turn
 */
export async function judgedText(untrusted: UntrustedText): Promise<string | undefined> {
  let text: string | undefined = untrusted.text;
  for (let run: RunRecord | undefined = untrusted.run; run; run = run.parent)
    for (const judge of JUDGES.get(run)?.values() ?? []) {
      if (text === undefined) return undefined;
      text = await judge({ ...untrusted, text });
    }
  return text;
}

/** Metadata of a message that others wrote; no provider gets it. */
export const UNTRUSTED = { untrusted: true } as const;

/** True for a message with {@link UNTRUSTED}. */
export function isUntrustedMessage({ metadata }: Message): boolean {
  return metadata?.['untrusted'] === true;
}
