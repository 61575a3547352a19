import {
  callsOf,
  type ContentPart,
  type Message,
  textOf,
  wireIdOf,
} from '../../core/chat/message.js';
import type { MessageFold, Prompt } from '../../core/chat/prompt.js';

/** A 53-bit number that differs for different texts, by accident too seldom to matter (cyrb53). */
function hashText(text: string, seed: number): number {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ (seed / 0x1_0000_0000);
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    high = Math.imul(high ^ char, 2654435761);
    low = Math.imul(low ^ char, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 0x1_0000_0000 * (2097151 & low) + (high >>> 0);
}

/** Messages are frozen: each is read once. */
const hashes = new WeakMap<Message, number>();

function hashMessage(message: Message): number {
  const known = hashes.get(message);
  if (known !== undefined) return known;
  const hash = hashOf(message);
  hashes.set(message, hash);
  return hash;
}

/** The parts of a message that providers receive; metadata is left out, applications note times there. */
function hashOf(message: Message): number {
  const seed = hashText(message.role, 0);
  switch (message.role) {
    case 'system':
      return hashText(textOf(message), seed);
    case 'user':
      return hashContent(message.content, seed);
    case 'tool':
      return hashContent(
        message.content,
        hashText(message.wireId ?? message.toolCallId ?? '', seed),
      );
    case 'assistant': {
      let hash = hashText(textOf(message), seed);
      for (const call of callsOf(message))
        hash = hashText(call.arguments, hashText(call.name, hashText(wireIdOf(call) ?? '', hash)));
      return hash;
    }
  }
}

function hashContent(content: string | readonly ContentPart[], seed: number): number {
  if (typeof content === 'string') return hashText(content, seed);
  return content.reduce((hash, part) => hashPart(part, hash), seed);
}

function hashPart(part: ContentPart, seed: number): number {
  if (part.type === 'text') return hashText(part.text, seed);
  if (part.type === 'raw') return hashText(jsonOf(part.value), seed);
  const { data, url = '' } = part;
  const hash = hashText(part.type + url, seed);
  if (data === undefined) return hash;
  return typeof data === 'string' ? hashText(data, hash) : hashBytes(data, hash);
}

function hashBytes(bytes: Uint8Array, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 16777619);
  return hash >>> 0;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return ''; // the request fails for another reason
  }
}

/** Another number for each order of two. */
function mix(a: number, b: number): number {
  let high = Math.imul(a ^ (b / 0x1_0000_0000), 2654435761) ^ b;
  let low = Math.imul(b ^ (a / 0x1_0000_0000), 1597334677) ^ a;
  high = Math.imul(high ^ (high >>> 15), 2246822507) ^ (low >>> 7);
  low = Math.imul(low ^ (low >>> 13), 3266489909) ^ (high >>> 9);
  return 0x1_0000_0000 * (2097151 & low) + (high >>> 0);
}

const foldHash: MessageFold<number> = (before = 0, added) => {
  let hash = before;
  for (const message of added) hash = mix(hash, hashMessage(message));
  return hash;
};

/** A number that is equal for prompts with the same messages. */
export function inputHash(prompt: Prompt): number {
  return prompt.fold(foldHash);
}
