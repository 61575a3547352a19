import type { AttributeValue } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  ObservabilityAdvisor,
  type Message,
  type ObservabilityAdvisorOptions,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import type { Mode } from '../advisors/turn.js';
import { malformedIn } from './conventions.js';
import { valuesOf } from './records.js';
import { recordSpans } from './spans.js';

/** Most characters of a recorded value, unless told otherwise. */
export const DEFAULT = 8_192;

/** A turn in which something is too big. */
export interface Big {
  readonly script?: Script;
  readonly messages?: readonly Message[];
  readonly system?: string;
  readonly prompt?: string;
  readonly tools?: readonly Tool[];
  readonly options?: ObservabilityAdvisorOptions;
  readonly model?: string;
  readonly conversation?: string;
}

/** Runs a turn to whatever end it has; gives its spans, with content. */
export async function run(mode: Mode, big: Big): Promise<readonly ReadableSpan[]> {
  const recording = recordSpans();
  const spec = ChatClient.create(new ScriptedChatModel(big.script ?? ['fine']))
    .prompt(big.prompt ?? 'Go.')
    .system(big.system ?? 'Be brief.')
    .messages(...(big.messages ?? []))
    .options(big.model === undefined ? {} : { model: big.model })
    .tools(...(big.tools ?? []))
    .advisors((a) => a.param(CONVERSATION_ID, big.conversation ?? 'anna-7'))
    .advisors(new ObservabilityAdvisor({ tracer: recording.tracer, captureContent: true, ...big.options }));
  await (mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse())).catch(() => undefined);
  expect(recording.problems).to.deep.equal([]);
  return recording.spans;
}

function lengthOf(value: AttributeValue): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item as AttributeValue), 0);
  return typeof value === 'string' ? value.length : 0;
}

/** Expects that nothing is longer than it may be, that lists are still lists, and that no character is cut in two. */
export function expectBounded(spans: readonly ReadableSpan[], max = DEFAULT): void {
  expect(spans).to.have.length.above(1);
  for (const [place, value] of valuesOf(spans)) {
    const isContent = /messages|instructions|definitions|arguments|result|description|^status|exception\.(message|stack)/.test(place);
    expect(lengthOf(value), place).to.be.at.most(isContent ? max : Math.max(max, 1_024));
    expect(/\p{Surrogate}/u.test(String(value)), `half a character in ${place}`).to.equal(false);
  }
  expect(malformedIn(spans)).to.deep.equal([]);
}

/** The values of an attribute, in all spans that have it. */
export function textsOf(spans: readonly ReadableSpan[], attribute: string): readonly string[] {
  return spans.flatMap(({ attributes }) => (attributes[attribute] === undefined ? [] : [String(attributes[attribute])]));
}

export const echo = (result: () => unknown): Tool => defineTool({ name: 'echo', input: { type: 'object' }, execute: result });
export const askFor = (args: string): Script => [{ toolCalls: [{ name: 'echo', arguments: args }] }, 'done'];
export const parts = (count: number, text: string): Message => ({
  role: 'user',
  content: Array.from({ length: count }, () => ({ type: 'text', text }) as const),
});
