import fc from 'fast-check';
import type { ContentPart, Message } from '../../src/index.js';

const text = fc.string({ minLength: 1, maxLength: 12 });
const id = fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme-ascii' });
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown); // no -0
const input = fc.dictionary(fc.constantFrom('a', 'b', 'city'), json);
const base64 = fc.constantFrom('AAAA', 'AQID', 'iVBORw0KGgo=');
const address = fc.constantFrom('https://a.example/b', 'https://a.example/c.png?x=1');
const imageType = fc.constantFrom('image/png', 'image/webp');
const options = fc.record({ madeUp: fc.record({ signature: text }) });

/** Fields of which each may be absent. */
function some<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(fields, { requiredKeys: [] });
}
const withOptions = <T extends object>(fields: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.tuple(fields, some({ providerOptions: options })).map(([a, b]) => ({ ...a, ...b }));

function type<T extends object>(name: string, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return withOptions(fc.record({ type: fc.constant(name), ...fields }));
}

const filePart = fc.oneof(
  type('file', { data: fc.oneof(base64, address), mediaType: imageType }),
  type('file', { data: base64, mediaType: fc.constant('audio/wav'), filename: text }),
  type('file', { data: fc.constant(new Uint8Array([1, 2])), mediaType: fc.constant('text/csv') }),
  type('file', { data: address, mediaType: fc.constant('application/pdf'), filename: text }),
);
const resultPart = fc.oneof(
  type('text', { text }),
  type('image-data', { data: base64, mediaType: imageType }),
  type('image-url', { url: address }),
  type('file-data', { data: base64, mediaType: fc.constant('application/pdf'), filename: text }),
  type('file-url', { url: address, mediaType: fc.constant('application/pdf') }),
  type('file-id', { fileId: fc.constant({ madeUp: 'file-7' }) }),
  type('custom', {}),
);
const output = fc.oneof(
  type('text', { value: text }),
  type('error-text', { value: text }),
  type('json', { value: json }),
  type('error-json', { value: json }),
  withOptions(fc.record({ type: fc.constant('execution-denied'), reason: text })),
  withOptions(fc.record({ type: fc.constant('execution-denied') })),
  type('content', { value: fc.array(resultPart, { maxLength: 3 }) }),
);
const toolResult = type('tool-result', { toolCallId: id, toolName: id, output });
const answerPart = fc.oneof(
  type('text', { text }),
  type('reasoning', { text }),
  type('file', { data: base64, mediaType: imageType }),
  type('tool-call', { toolCallId: id, toolName: id, input }),
  type('tool-call', { toolCallId: id, toolName: id, input, providerExecuted: fc.constant(true) }),
  fc.record({
    type: fc.constant('tool-approval-request'),
    approvalId: id,
    toolCallId: id,
  }),
);
const approval = fc.record(
  {
    type: fc.constant('tool-approval-response'),
    approvalId: id,
    approved: fc.boolean(),
    reason: text,
  },
  { requiredKeys: ['type', 'approvalId', 'approved'] },
);

/** An answer with its tool message, which has the answers to requests before the results. */
const step = fc
  .tuple(
    withOptions(
      fc.record({
        role: fc.constant('assistant'),
        content: fc.oneof(
          text,
          fc.array(answerPart, { minLength: 1, maxLength: 6 }).filter((parts) => !isText(parts)),
        ),
      }),
    ),
    fc.array(approval, { maxLength: 2 }),
    fc.array(toolResult, { maxLength: 3 }),
  )
  .map(([answer, approvals, results]) => {
    const content = [...approvals, ...results];
    return content.length > 0 ? [answer, { role: 'tool', content }] : [answer];
  });
const userMessage = withOptions(
  fc.record({
    role: fc.constant('user'),
    content: fc.oneof(text, fc.array(fc.oneof(type('text', { text }), filePart), { maxLength: 4 })),
  }),
);
const systemMessage = withOptions(fc.record({ role: fc.constant('system'), content: text }));

/** A text alone, whose usual form is a string. */
function isText(parts: readonly object[]): boolean {
  const [part] = parts as readonly { readonly type: string; readonly providerOptions?: unknown }[];
  return parts.length === 1 && part?.type === 'text' && part.providerOptions === undefined;
}

/** Conversations of the AI SDK, in the form in which `toModelMessages` writes them. */
export const modelMessages: fc.Arbitrary<readonly { role: string; content: string | object[] }[]> =
  fc
    .array(
      fc.oneof(
        systemMessage.map((each) => [each]),
        userMessage.map((each) => [each]),
        step,
      ),
      {
        maxLength: 5,
      },
    )
    .map((messages) => messages.flat() as { role: string; content: string | object[] }[]);

const part: fc.Arbitrary<ContentPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('image' as const), url: address }),
  fc.record({ type: fc.constant('image' as const), data: base64, mediaType: imageType }),
  fc.record({
    type: fc.constant('audio' as const),
    data: base64,
    mediaType: fc.constant('audio/wav'),
  }),
  fc.record({
    type: fc.constant('file' as const),
    data: base64,
    mediaType: fc.constant('application/pdf'),
    name: text,
  }),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));
const metadata = some({ metadata: fc.record({ providerOptions: options }) });
const call = fc.record({ id, name: id, arguments: fc.oneof(input.map((value) => JSON.stringify(value)), fc.constantFrom('{"a', '"a"', '{"id":123456789012345678}')) }); // prettier-ignore

/** Conversations of this library, of the fields that the AI SDK knows. */
export const ownMessages: fc.Arbitrary<readonly Message[]> = fc.array(
  fc.oneof(
    merged({ role: fc.constant('system' as const), content: text }, metadata),
    merged({ role: fc.constant('user' as const), content }, metadata),
    merged({ role: fc.constant('assistant' as const), content: fc.string() }, metadata),
    merged(
      {
        role: fc.constant('assistant' as const),
        content: fc.oneof(text, fc.constant(null)),
        toolCalls: fc.array(call, { minLength: 1, maxLength: 3 }),
      },
      some({ reasoning: text }),
    ),
    merged({ role: fc.constant('tool' as const), toolCallId: id, toolName: id, content }, metadata),
    fc.record({
      role: fc.constant('tool' as const),
      toolCallId: id,
      toolName: id,
      content: text,
      isError: fc.constant(true as const),
    }),
  ),
  { maxLength: 6 },
);

function merged<A extends object, B extends object>(
  fields: { [K in keyof A]: fc.Arbitrary<A[K]> },
  more: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> {
  return fc.tuple(fc.record(fields) as fc.Arbitrary<A>, more).map(([a, b]) => ({ ...a, ...b }));
}
