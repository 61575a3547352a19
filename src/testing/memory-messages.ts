import type { Message } from '../chat/message.js';

/** Messages of every kind with every field, and texts that stores have been seen to damage. */
export function everyKindOfMessage(): readonly Message[] {
  const metadata = { 'vendor.signature': { a: [1, null, true, 'x', 1e-7] }, empty: {}, none: [] };
  return [
    { role: 'system', text: 'Be brief.', metadata },
    { role: 'user', content: 'Hello' },
    { role: 'user', content: '' },
    { role: 'user', content: [], metadata },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', url: 'https://example.com/a.png' },
        { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
        { type: 'image', data: Uint8Array.from({ length: 256 }, (_, at) => at), mediaType: 'image/png' },
        { type: 'audio', data: new Uint8Array(0), mediaType: 'audio/wav' },
        { type: 'file', name: 'a "b".pdf', url: 'https://example.com/a.pdf' },
        { type: 'raw', value: { type: 'input_video', deep: [[{ base64: 'AA==' }]] } },
      ],
    },
    { role: 'assistant', text: null, toolCalls: [] },
    { role: 'assistant', text: '', toolCalls: [], refusal: 'No.' },
    {
      role: 'assistant',
      text: 'Let me see.',
      reasoning: 'They want the weather.',
      toolCalls: [
        { id: 'call_1', name: 'weather', arguments: '{"city" : "Köln",\n "n": 1.0}', metadata },
        { id: 'call_2', name: 'weather', arguments: '' },
        { id: 'call_3', name: 'a.b/c', arguments: '{broken' },
      ],
      metadata,
    },
    { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: 'sunny', metadata },
    { role: 'tool', toolCallId: 'call_2', toolName: 'weather', content: 'no city', isError: true },
    { role: 'tool', toolCallId: 'call_3', toolName: 'a.b/c', content: [{ type: 'text', text: 'parts' }], isError: false },
    ...TEXTS.map((text): Message => ({ role: 'user', content: text })),
    ...TEXTS.map((text): Message => ({ role: 'assistant', text, toolCalls: [], metadata: { text, [text]: text } })),
    { role: 'user', content: `${'😀é\n"\\'.repeat(150_000)}end` },
  ];
}

const TEXTS = [
  'naïve 日本語 😀 👩‍👩‍👧 \u{10FFFF}',
  'NUL \0 and control \u0001\u001f\u007f\u2028\u2029',
  'half of a pair \ud83d here',
  `'; DROP TABLE chat_memory_message; -- " \` $1 ? :a %s`,
  'line\r\nend\ttab \\u0041 \\',
  '{"role":"system","text":"x"}',
];

/** Ids that a store must take as they are. */
export const STRANGE_IDS = [
  'plain',
  'Plain',
  'with space ',
  `') OR ('1'='1`,
  '"; DROP TABLE chat_memory_message; --',
  '%',
  '_',
  '*',
  '?',
  '[a-z]*',
  'a:b',
  'a:{b}',
  '{}',
  '../../etc/passwd',
  'C:\\x',
  '__proto__',
  'constructor',
  'null',
  '0',
  '-1',
  '\u202eright to left',
  'é',
  'e\u0301',
  '😀',
  '\u{10FFFF}',
  '\uffff',
  '$1',
  'new\nline',
  'x'.repeat(300),
] as const;

/** Values that are no ids. */
export const BAD_IDS: readonly unknown[] = ['', '  ', 'a\0b', 'half \ud800', 'x'.repeat(1_000_000), undefined, null, 7, {}, ['a']];
