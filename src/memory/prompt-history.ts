import { textOf, type Message } from '../chat/message.js';

/** What a request adds to its conversation: everything behind the last answer, but nothing blank. */
export function newMessagesOf(prompt: readonly Message[]): readonly Message[] {
  const at = prompt.findLastIndex(({ role }) => role === 'assistant');
  return prompt.slice(at + 1).filter((message) => message.role !== 'system' && !isBlank(message));
}

function isBlank(message: Message): boolean {
  if (message.role !== 'user') return false;
  const { content } = message;
  return textOf(content).trim() === '' && (typeof content === 'string' || content.every(({ type }) => type === 'text'));
}

/**
 * A prompt with what is remembered: its own system message first, then what is remembered, then the rest of it. Where the prompt
 * brings a part of the history itself, that part is not said twice.
 */
export function withHistory(remembered: readonly Message[], prompt: readonly Message[]): readonly Message[] {
  if (remembered.length === 0) return systemFirst(prompt);
  const own = new Set(prompt.flatMap((message) => (message.role === 'system' ? [message.text] : [])));
  const system = remembered.filter((message) => message.role === 'system' && !own.has(message.text));
  const history = remembered.filter(({ role }) => role !== 'system');
  const [first, ...rest] = systemFirst(prompt);
  const [head, tail] = first?.role === 'system' ? [[first], rest] : [[], prompt];
  return [...head, ...system, ...withoutOverlap(history, tail), ...tail];
}

function systemFirst(prompt: readonly Message[]): readonly Message[] {
  const at = prompt.findIndex(({ role }) => role === 'system');
  return at <= 0 ? prompt : [prompt[at] as Message, ...prompt.slice(0, at), ...prompt.slice(at + 1)];
}

/** The history without what the prompt repeats of it. What is new in the prompt is new, whatever its words. */
function withoutOverlap(history: readonly Message[], prompt: readonly Message[]): readonly Message[] {
  const at = prompt.findLastIndex(({ role }) => role === 'assistant');
  if (at < 0) return history;
  const known = history.map(wordsOf);
  const given = prompt
    .slice(0, at + 1)
    .filter(({ role }) => role !== 'system')
    .map(wordsOf);
  if (contains(given, known)) return [];
  for (let length = Math.min(known.length, given.length); length > 0; length--)
    if (given.slice(0, length).every((words, index) => words === known[known.length - length + index])) return history.slice(0, -length);
  return history;
}

function contains(all: readonly string[], part: readonly string[]): boolean {
  return all.some((_, start) => start + part.length <= all.length && part.every((words, index) => words === all[start + index]));
}

/** What a message says, without its metadata: a store, or an application, may have added to that. */
function wordsOf(message: Message): string {
  switch (message.role) {
    case 'system':
      return JSON.stringify(['system', message.text]);
    case 'assistant':
      return JSON.stringify(['assistant', message.text ?? '', message.toolCalls.map(({ id, name, arguments: text }) => [id, name, text])]);
    default:
      return JSON.stringify([message.role, message.content, message.role === 'tool' ? message.toolCallId : '']);
  }
}
