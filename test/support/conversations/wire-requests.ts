import type { Json } from '../cassettes.js';

/** A message of a request, in the same form for all APIs. */
export type SentMessage =
  | { readonly role: 'user' | 'system'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly SentCall[] }
  | { readonly role: 'tool'; readonly id: unknown; readonly name: unknown; readonly text: string };

export interface SentCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly input: unknown;
}

/** Rules of an API for its requests. */
interface RequestFormat {
  readonly messages: (body: Json) => readonly SentMessage[];
  /** Legal ids; undefined for an API that pairs by order. */
  readonly id?: RegExp;
  /** Legal names of called tools. */
  readonly name?: RegExp;
  /** True if a text must not be blank, and the first message must be the user's. */
  readonly isStrict?: true;
}

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => (part['text'] ?? JSON.stringify(part)) as string)
        .join('');
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Messages of chat completions, Cohere and Ollama. */
const chatMessages = (body: Json): readonly SentMessage[] =>
  listOf(body['messages']).map((message): SentMessage => {
    const { role, content } = message;
    const text = textOf(content ?? '');
    if (role === 'tool')
      return { role, id: message['tool_call_id'], name: message['tool_name'], text };
    if (role !== 'assistant') return { role: role === 'user' ? role : 'system', text };
    const calls = listOf(message['tool_calls']).map((call): SentCall => {
      const { name, arguments: input } = call['function'] as Json;
      return { id: call['id'], name, input };
    });
    return { role, text, calls };
  });

const itemMessages = (body: Json): readonly SentMessage[] => {
  const all: SentMessage[] = [];
  for (const item of listOf(body['input'])) {
    const { type = 'message', role, content, name, call_id: id } = item;
    const last = all.at(-1);
    if (type === 'function_call') {
      const call = { id, name, input: item['arguments'] };
      if (last?.role === 'assistant')
        all[all.length - 1] = { ...last, calls: [...last.calls, call] };
      else all.push({ role: 'assistant', text: '', calls: [call] });
    } else if (type === 'function_call_output')
      all.push({ role: 'tool', id, name: undefined, text: textOf(item['output']) });
    else if (type === 'message' && role === 'assistant')
      all.push({ role, text: textOf(content), calls: [] });
    else if (type === 'message')
      all.push({ role: role === 'user' ? role : 'system', text: textOf(content) });
  }
  return all;
};

const blockMessages = (body: Json): readonly SentMessage[] =>
  listOf(body['messages']).flatMap(({ role, content }): readonly SentMessage[] => {
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
    const text = textOf(blocks.filter(({ type }) => type === 'text'));
    if (role === 'assistant') {
      const uses = blocks.filter(({ type }) => type === 'tool_use');
      const calls = uses.map(({ id, name, input }) => ({ id, name, input }));
      return [{ role, text, calls }];
    }
    const results = blocks
      .filter(({ type }) => type === 'tool_result')
      .map((block): SentMessage => {
        const result = textOf(block['content'] ?? '');
        return { role: 'tool', id: block['tool_use_id'], name: undefined, text: result };
      });
    return text || results.length === 0 ? [...results, { role: 'user', text }] : results;
  });

const partMessages = (body: Json): readonly SentMessage[] =>
  listOf(body['contents']).flatMap(({ role, parts }): readonly SentMessage[] => {
    const all = listOf(parts);
    const text = textOf(all.filter((part) => 'text' in part));
    if (role === 'model') {
      const called = all.flatMap((part) => listOf([part['functionCall']].filter(Boolean)));
      const calls = called.map(({ id, name, args }) => ({ id, name, input: args }));
      return [{ role: 'assistant', text, calls }];
    }
    const results = all
      .flatMap((part) => listOf([part['functionResponse']].filter(Boolean)))
      .map(({ id, name, response }): SentMessage => {
        return { role: 'tool', id, name, text: asText(response) };
      });
    return text || results.length === 0 ? [...results, { role: 'user', text }] : results;
  });

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const FORMATS: Readonly<Record<string, RequestFormat>> = {
  'chat.completions': { messages: chatMessages, id: /^[^]{1,64}$/, name: NAME },
  responses: { messages: itemMessages, id: /^[^]{1,64}$/, name: NAME },
  messages: {
    messages: blockMessages,
    id: /^[a-zA-Z0-9_-]+$/,
    name: /^[a-zA-Z0-9_-]{1,128}$/,
    isStrict: true,
  },
  generateContent: { messages: partMessages, name: /^[a-zA-Z_][\w.:-]{0,63}$/ },
  'cohere.chat.v2': { messages: chatMessages, id: /^[^]+$/, name: NAME },
  'ollama.chat': { messages: chatMessages },
};

/** The messages of a request. */
export const messagesOf = (api: string, body: Json): readonly SentMessage[] =>
  (FORMATS[api] as RequestFormat).messages(body);

/** Reason why the API would refuse a request; undefined if it takes it. */
export function refusalOf(api: string, body: Json): string | undefined {
  const format = FORMATS[api] as RequestFormat;
  const messages = format.messages(body).filter(({ role }) => role !== 'system');
  if (!isWellFormed(body)) return 'a text has half a surrogate pair';
  const [first, last] = [messages[0], messages.at(-1)];
  if (first === undefined) return 'there are no messages';
  if (format.isStrict && first.role !== 'user') return `the first message is of ${first.role}`;
  if (last?.role === 'assistant') return 'the last message is an answer';
  return illegalCall(messages, format) ?? unpaired(messages, format) ?? blank(messages, format);
}

/** True if no text within a value has half a surrogate pair. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, each]) => isWellFormed(name) && isWellFormed(each));
}

function illegalCall(messages: readonly SentMessage[], { id, name }: RequestFormat) {
  const calls = messages.flatMap((each) => (each.role === 'assistant' ? each.calls : []));
  for (const call of calls) {
    if (name && !name.test(String(call.name))) return `the name ${show(call.name)} is illegal`;
    if (id && !(typeof call.id === 'string' && id.test(call.id)))
      return `the id ${show(call.id)} is illegal`;
  }
  const ids = calls.map((call) => call.id);
  const repeated = ids.find((each, at) => ids.indexOf(each) !== at);
  return id && repeated !== undefined ? `two calls have the id ${show(repeated)}` : undefined;
}

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? 'undefined';

/** The calls and results that do not belong together. */
function unpaired(messages: readonly SentMessage[], { id }: RequestFormat): string | undefined {
  let open: readonly SentCall[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const at = id ? open.findIndex((call) => call.id === message.id) : 0;
      const call = open[at];
      if (!call) return `a result has no call before it: ${message.text.slice(0, 60)}`;
      open = open.filter((each) => each !== call);
      const problem = foreignResult(call, message.text);
      if (problem) return problem;
      continue;
    }
    if (open.length > 0) return `a call has no result: ${show(open[0])}`;
    if (message.role === 'assistant') open = message.calls;
  }
  return open.length > 0 ? `a call has no result: ${show(open[0])}` : undefined;
}

/** A result names the call that it belongs to, unless it is an error. */
function foreignResult({ input }: SentCall, text: string): string | undefined {
  const [token] = /#[\d.]+#/.exec(text) ?? [];
  const isOwn = token === undefined || asText(input).includes(token);
  return isOwn ? undefined : `the result ${token} stands under the call ${asText(input)}`;
}

function blank(messages: readonly SentMessage[], { isStrict }: RequestFormat): string | undefined {
  if (!isStrict) return undefined;
  const found = messages.find(
    (each) =>
      (each.role === 'user' || (each.role === 'assistant' && each.calls.length === 0)) &&
      each.text.trim() === '',
  );
  return found && `a message of ${found.role} is blank`;
}
