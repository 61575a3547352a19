import fc from 'fast-check';
import { agUI } from '../../src/bridges/ag-ui/index.js';
import { toHttpError, type StreamFormat } from '../../src/bridges/http/index.js';
import { formatOf } from '../../src/bridges/http/formats.js';
import { uiMessageStream } from '../../src/bridges/ui/index.js';
import { AdvisorContext, ChatResponse, type ChatEvent } from '../../src/index.js';

/** Every built-in format. */
export const FORMATS: Readonly<Record<string, StreamFormat>> = {
  text: formatOf('text', undefined),
  sse: formatOf('sse', ['note'] as never),
  ndjson: formatOf('ndjson', []),
  ui: uiMessageStream({ messageId: 'm', customEvents: ['note', 'sources'] as never }),
  'ui of a resumed turn': uiMessageStream({ isContinuation: true }),
  'ag-ui': agUI({ threadId: 't', runId: 'r', customEvents: ['note'] as never }),
  'ag-ui with replayed events': agUI({ threadId: 't', runId: 'r', showReplayed: true }),
};

/** The frames of events in a format, event by event, and at the end. */
export function framesOf(format: StreamFormat, events: readonly ChatEvent[]): readonly string[] {
  const encoder = format.encoder();
  const frames: string[] = [];
  try {
    for (const event of events) frames.push(encoder.encode(event));
    frames.push(encoder.end());
  } catch (error) {
    frames.push(encoder.fail({ ...toHttpError(error) }));
  }
  return frames;
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const id = fc.constantFrom('a', 'b', 'c');
const index = fc.nat({ max: 2 });
const marked = <T extends object>(event: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc
    .tuple(event, fc.boolean())
    .map(([each, isReplayed]) => (isReplayed ? { ...each, isReplayed: true } : each));
const args = fc.constantFrom('{}', '{"q":1}', '', '{"open":', '{"__proto__":1}');
const call = fc.record({ id, name: fc.constantFrom('find', 'agent'), arguments: args });
/** With a checked input, or without one if it did not pass the check. */
const checked = fc.tuple(call, fc.boolean()).map(([each, isValid]) =>
  Object.defineProperty({ ...each, metadata: { raw: 'secret' } }, 'input', {
    value: isValid ? { at: new Date(0) } : undefined,
  }),
);
const usage = fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat(), totalTokens: fc.nat() });
const citation = fc.record(
  { url: fc.constantFrom('https://a.example', 'ftp://b'), title: text, raw: fc.constant('secret') },
  { requiredKeys: [] },
);
const part = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({
    type: fc.constant('image' as const),
    data: fc.uint8Array({ maxLength: 40 }),
    mediaType: fc.constant('image/png'),
  }),
  fc.record({ type: fc.constant('file' as const), url: fc.constant('https://a.example/f') }),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }), fc.constant('{"rows":[1]}'));
const result = fc
  .record({
    content,
    isError: fc.boolean(),
    value: fc.constantFrom('text', { secret: 1 }, undefined),
  })
  .map((each) => ({ ...each, error: new Error('secret') }));
const request = fc.record({
  type: fc.constantFrom('approval', 'question'),
  id,
  callId: id,
  toolName: fc.constant('find'),
  arguments: fc.constant({ q: 1 }),
  prompt: text,
});
const response = fc
  .record({
    content: fc.option(text),
    calls: fc.array(call, { maxLength: 2 }),
    finishReason: fc.constantFrom('stop', 'tool_calls', undefined),
    usage: fc.option(usage, { nil: undefined }),
    model: fc.constantFrom('m', undefined),
    citations: fc.array(citation, { maxLength: 2 }),
    requests: fc.option(fc.array(request, { maxLength: 2 }), { nil: undefined }),
  })
  .map(
    ({ content: own, calls, finishReason, citations, requests, ...fields }) =>
      new ChatResponse({
        ...fields,
        id: 'secret',
        metadata: { raw: 'secret' },
        ...(requests && { paused: { id: 'p', state: 's', requests: requests as never } }),
        generations: [
          {
            message: {
              role: 'assistant',
              content: own,
              toolCalls: calls,
              metadata: { a: 'secret' },
            },
            ...(finishReason && { finishReason }),
            citations: citations as never,
          },
        ],
      }),
  );
const ledger = fc.array(
  fc.record(
    { kind: fc.constant('chat'), model: fc.constantFrom('m', 'n', undefined), usage, isReplayed: fc.constant(true) }, // prettier-ignore
    { requiredKeys: ['kind', 'model'] },
  ),
  { maxLength: 3 },
);
const strange = fc.constantFrom(undefined, null, 1n, new Date(0), new Map([['a', 1]]), [
  1,
  '\ud800',
]);
const plain: fc.Arbitrary<ChatEvent> = fc.oneof(
  fc.record({
    type: fc.constant('iteration-start'),
    index,
    model: fc.constantFrom('m', undefined),
  }),
  fc.record({ type: fc.constantFrom('text-delta', 'reasoning-delta'), text }),
  fc.record({ type: fc.constantFrom('text-delta', 'text-delta'), text }),
  fc.record({ type: fc.constant('tool-call-delta'), index, id, name: fc.constant('find'), arguments: args }), // prettier-ignore
  fc.record({ type: fc.constant('tool-call-delta'), index, arguments: args }),
  fc.record({ type: fc.constant('citation'), citation }),
  fc.record({ type: fc.constant('iteration'), index, response }),
  fc.record({ type: fc.constantFrom('tool-call', 'tool-start'), toolName: fc.constant('find'), call: checked }), // prettier-ignore
  fc.record({
    type: fc.constant('tool-result'),
    toolName: fc.constant('find'),
    call: checked,
    result,
  }),
  fc.record({ type: fc.constant('step'), step: fc.record({ index, response }) }),
  fc.record({ type: fc.constant('retract'), iteration: index }),
  fc.record({
    type: fc.constant('custom'),
    name: fc.constantFrom('note', 'other'),
    data: strange,
  }),
  fc.record({
    type: fc.constant('custom'),
    name: fc.constant('tool-approval'),
    data: fc.record({ request, state: fc.constantFrom('asked', 'decided') }),
  }),
) as never;
const progress: fc.Arbitrary<ChatEvent> = fc.record({
  type: fc.constant('tool-progress'),
  toolName: fc.constant('agent'),
  call: checked,
  data: fc.oneof(strange, plain),
}) as never;

/** The events of a turn in any order, and its response. */
export const turnEvents: fc.Arbitrary<readonly ChatEvent[]> = fc
  .tuple(
    fc.array(marked(fc.oneof(plain, plain, plain, progress)), { maxLength: 25 }),
    response,
    fc.option(ledger),
  ) // prettier-ignore
  .map(([events, answer, calls]) => [
    ...events,
    {
      type: 'response',
      response: answer,
      context: AdvisorContext.empty,
      ...(calls && { run: { ledger: calls, cost: 0.5, transcript: ['secret'] } as never }),
    },
  ]);
