import type { AttributeValue } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  ChatClient,
  ChatResponse,
  CONVERSATION_ID,
  defineTool,
  ModelCallError,
  ObservabilityAdvisor,
  type Message,
  type ObservabilityAdvisorOptions,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import type { Mode } from './modes.js';
import { malformedIn } from './genai-schemas.js';
import { valuesOf } from './recorded-telemetry.js';
import { recordSpans } from './recorded-spans.js';

/** Default maximum characters of a recorded value. */
export const DEFAULT = 8_192;

/** A turn with oversized content. */
export interface OversizedTurn {
  readonly script?: Script;
  readonly messages?: readonly Message[];
  readonly system?: string;
  readonly prompt?: string;
  readonly tools?: readonly Tool[];
  readonly options?: ObservabilityAdvisorOptions;
  readonly model?: string;
  readonly conversation?: string;
}

/** Runs a turn to its end and returns its spans, with content. */
export async function runOversized(
  mode: Mode,
  turn: OversizedTurn,
): Promise<readonly ReadableSpan[]> {
  const recording = recordSpans();
  const spec = ChatClient.create(new ScriptedChatModel(turn.script ?? ['fine']))
    .prompt(turn.prompt ?? 'Go.')
    .system(turn.system ?? 'Be brief.')
    .messages(...(turn.messages ?? []))
    .options(turn.model === undefined ? {} : { model: turn.model })
    .tools(...(turn.tools ?? []))
    .advisors((a) => a.param(CONVERSATION_ID, turn.conversation ?? 'anna-7'))
    .advisors(
      new ObservabilityAdvisor({ tracer: recording.tracer, captureContent: true, ...turn.options }),
    );
  await (
    mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse())
  ).catch(() => undefined);
  expect(recording.problems).to.deep.equal([]);
  return recording.spans;
}

function lengthOf(value: AttributeValue): number {
  if (Array.isArray(value))
    return value.reduce<number>((sum, item) => sum + lengthOf(item as AttributeValue), 0);
  return typeof value === 'string' ? value.length : 0;
}

/** Expects no value beyond the limit, valid lists, and no split surrogate pairs. */
export function expectBounded(spans: readonly ReadableSpan[], max = DEFAULT): void {
  expect(spans).to.have.length.above(1);
  for (const [place, value] of valuesOf(spans)) {
    const isContent =
      /messages|instructions|definitions|arguments|result|description|^status|exception\.(message|stack)/.test(
        place,
      );
    expect(lengthOf(value), place).to.be.at.most(isContent ? max : Math.max(max, 1_024));
    expect(/\p{Surrogate}/u.test(String(value)), `half a character in ${place}`).to.equal(false);
  }
  expect(malformedIn(spans)).to.deep.equal([]);
}

/** The values of an attribute, in all spans that have it. */
export function textsOf(spans: readonly ReadableSpan[], attribute: string): readonly string[] {
  return spans.flatMap(({ attributes }) =>
    attributes[attribute] === undefined ? [] : [String(attributes[attribute])],
  );
}

export const echo = (result: () => unknown): Tool =>
  defineTool({ name: 'echo', input: { type: 'object' }, execute: result });
export const askFor = (args: string): Script => [
  { toolCalls: [{ name: 'echo', arguments: args }] },
  'done',
];
export const parts = (count: number, text: string): Message => ({
  role: 'user',
  content: Array.from({ length: count }, () => ({ type: 'text', text }) as const),
});

/** JSON of many small entries. */
function manyEntries(size: number): string {
  const entries = Array.from(
    { length: size / 64 },
    (_, at) => `"key ${String(at).padStart(20, '0')}":"${'v'.repeat(34)}"`,
  );
  return `{${entries.join(',')}}`;
}

export const manyMessages = (size: number): readonly Message[] =>
  Array.from({ length: size / 6_500 }, (_, at) => ({
    role: 'user',
    content: `message ${at} ${'y'.repeat(6_480)}`,
  }));

/** Turns in which one part has about `size` characters, by the name of the part. */
export function oversizedTurns(size: number): Readonly<Record<string, () => OversizedTurn>> {
  const huge = 'x'.repeat(size);
  const error = Object.assign(new TypeError(huge), { stack: huge });
  const answer = { role: 'assistant', content: 'a' } as const;
  const result = (execute: () => unknown): OversizedTurn => ({
    script: askFor('{}'),
    tools: [echo(execute)],
  });
  const responding = (fields: ConstructorParameters<typeof ChatResponse>[0]): OversizedTurn => ({
    script: [new ChatResponse(fields)],
  });
  return {
    'a prompt': () => ({ prompt: huge }),
    instructions: () => ({ system: huge }),
    'an answer': () => ({ script: [{ deltas: [huge] }] }),
    reasoning: () => ({ script: [{ text: 'a', reasoning: huge }] }),
    'many messages': () => ({ messages: manyMessages(size) }),
    'many parts of a message': () => ({ messages: [parts(size / 600, 'z'.repeat(600))] }),
    'arguments with many entries': () => ({
      script: askFor(manyEntries(size)),
      tools: [echo(() => 'ok')],
    }),
    'arguments in one text': () => ({
      script: askFor(JSON.stringify({ text: huge })),
      tools: [echo(() => 'ok')],
    }),
    'a result': () => result(() => huge),
    'a description': () => ({
      tools: [defineTool({ name: 'echo', description: huge, execute: () => 'ok' })],
    }),
    'an error of a model': () => ({ script: [error] }),
    'an error of a tool': () => result(() => Promise.reject(error)),
    'the name of an unknown tool': () => ({
      script: [{ toolCalls: [{ name: huge, id: huge }] }, 'done'],
    }),
    'names and ids': () => ({
      model: huge,
      conversation: 'c'.repeat(512),
      ...responding({
        id: huge,
        model: huge,
        generations: [{ finishReason: huge, message: answer }],
      }),
    }),
    'many alternatives': () =>
      responding({
        generations: Array.from({ length: size / 640 }, () => ({
          finishReason: 'stop',
          message: answer,
        })),
      }),
    'attributes and a span name of the application': () => ({
      options: { attributes: () => ({ text: huge, list: [huge, huge] }), spanName: () => huge },
    }),
    'a list of attributes of the application': () => ({
      options: { attributes: { list: Array.from({ length: size / 640 }, () => 'item') } },
    }),
    'a code of an error': () => ({
      script: [Object.assign(new ModelCallError('no'), { code: huge })],
    }),
  };
}

/** Runs a turn with a limit for recorded values, and expects valid lists. */
export async function expectListsOfLength(maxContentLength: number): Promise<void> {
  const call = {
    name: 'echo',
    arguments: JSON.stringify({ numbers: Array.from({ length: 40 }, (_, at) => at) }),
  };
  const script: Script = [
    { text: 'Let me see what there is.', reasoning: 'Hm, hm.', toolCalls: [call, call] },
    { text: 'It is a long answer.' },
  ];
  const messages = [parts(3, 'a text of some length')];
  const tools = [echo(() => ({ a: 'result' }))];
  const options = { maxContentLength };
  const spans = await runOversized('call', { script, messages, tools, options });

  expectBounded(spans, maxContentLength);
}

/** Runs a turn with a number of message parts and tool calls, and expects valid lists. */
export async function expectListsOfParts(count: number): Promise<void> {
  const toolCalls = Array.from({ length: count }, (_, at) => ({
    name: 'echo',
    arguments: { at: `number ${at}` },
  }));
  const spans = await runOversized('call', {
    messages: [parts(count, 'a text of some length')],
    script: [{ toolCalls }, 'done'],
    tools: [echo(() => 'ok')],
  });

  expectBounded(spans);
}
