import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Message } from '../../core/chat/message.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type {
  ChatMemoryRepository,
  ConversationLog,
  ReadOptions,
} from '../../stores/chat-memory/chat-memory-repository.js';

/** Properties of every repository, by test title; each check has the id of a new conversation. */
export type MemoryLaws = Readonly<
  Record<string, (repository: ChatMemoryRepository, id: string) => Promise<void>>
>;

/** An id of a conversation, or a prefix of several, that no other test uses. */
export function newId(name = 'conversation'): string {
  return `law ${randomUUID()} ${name}`;
}

export const user = (content: string): Message => ({ role: 'user', content });

/** User messages with the numbers from one to another as content. */
export function numbered(from: number, to: number): readonly Message[] {
  return Array.from({ length: to - from + 1 }, (_, at) => user(`${from + at}`));
}

/** A log of user messages. */
export function logOf(
  version: number,
  ...messages: readonly (readonly [version: number, content: string, turnId?: string])[]
): ConversationLog {
  const stored = messages.map(([version, content, turnId]) => {
    return { version, turnId, message: user(content) };
  });
  return { version, messages: stored, systemMessages: [] };
}

export async function rejectInvalid(
  ...attempts: readonly (() => Promise<unknown>)[]
): Promise<void> {
  for (const attempt of attempts) await assert.rejects(attempt, InvalidArgumentError);
}

/** The contents of the messages of a conversation. */
export async function contentsOf(
  repository: ChatMemoryRepository,
  id: string,
  options?: ReadOptions,
): Promise<readonly unknown[]> {
  const { messages } = await repository.read(id, options);
  return messages.map(({ message }) => message.content);
}

/** Messages of every kind with every field, and texts that stores are known to damage. */
export function everyKindOfMessage(): readonly Message[] {
  const metadata = { 'vendor.signature': { a: [1, null, true, 'x', 1e-7] }, empty: {}, none: [] };
  return [
    { role: 'system', content: 'Be brief.', metadata },
    { role: 'user', content: 'Hello' },
    { role: 'user', content: '' },
    { role: 'user', content: [], metadata },
    {
      role: 'user',
      content: [
        PART,
        { type: 'image', url: 'https://example.com/a.png' },
        { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
        { type: 'image', data: ALL_BYTES, mediaType: 'image/png' },
        { type: 'audio', data: new Uint8Array(0), mediaType: 'audio/wav' },
        { type: 'file', name: 'a "b".pdf', url: 'https://example.com/a.pdf' },
        { type: 'raw', value: { type: 'input_video', deep: [[{ base64: 'AA==' }]] } },
      ],
    },
    { role: 'assistant', content: null },
    { role: 'assistant', content: '', refusal: 'No.' },
    {
      role: 'assistant',
      content: 'One moment.',
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
    { role: 'tool', toolCallId: 'call_3', toolName: 'a.b/c', content: [PART], isError: false },
    ...TEXTS.map((text) => ({ ...user(text), metadata: { text, [text]: text } })),
    ...TEXTS.map((text): Message => ({ role: 'assistant', content: text })),
    { role: 'user', content: `${'😀é\n"\\'.repeat(150_000)}end` },
  ];
}

const PART = { type: 'text', text: 'What is this?' } as const;
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, at) => at);

const TEXTS = [
  'naïve 日本語 😀 👩‍👩‍👧 \u{10FFFF}',
  'NUL \0 and control \u0001\u001f\u007f\u2028\u2029',
  `'; DROP TABLE chat_memory_message; -- " \` $1 ? :a %s`,
  'line\r\nend\ttab \\u0041 \\',
  '{"role":"system","text":"x"}',
];

/** Ids that a store must not interpret. */
export const UNUSUAL_IDS = [
  ['plain', 'Plain', 'with space ', 'new\nline', 'x'.repeat(300)],
  ["') OR ('1'='1", '"; DROP TABLE chat_memory_message; --', '%', '_', '$1'],
  ['*', '?', '[a-z]*', 'a:b', 'a:{b}', '{}', '../../etc/passwd', 'C:\\x'],
  ['__proto__', 'constructor', 'null', '0', '-1'],
  ['\u202eright to left', 'é', 'e\u0301', '😀', '\u{10FFFF}', '\uffff'],
].flat();

/** Invalid ids. */
export const INVALID_IDS: readonly unknown[] = [
  ['', '  ', 'a\0b', 'lone \ud800', 'x'.repeat(1_000_000)],
  [undefined, null, 7, {}, ['a']],
].flat();
