import type { ChatEvent, ResponseEvent } from '../../core/chat/chat-event.js';
import { ChatResponse, type ChatResponseFields } from '../../core/chat/chat-response.js';
import { AdvisorContext } from '../../core/chat/context.js';
import {
  callsOf,
  textOf,
  type CheckedCall,
  type Content,
  type ToolCall,
} from '../../core/chat/message.js';
import type { RunReport } from '../../core/chat/run-report.js';
import { fromBase64Url, toBase64Url } from '../../core/internal/base64url.js';
import type { HttpError } from '../http/http-error.js';
import { ALL_EVENTS, publicEvent } from '../http/public-event.js';

/** The end of a run in its log. */
export type LogEnd =
  { readonly type: 'log-end' } | { readonly type: 'log-error'; readonly error: HttpError };

/** Fields that the formats need beside the public form of an event. */
interface Extras {
  /** Calls of the answer of an iteration, or of the response. */
  readonly calls?: readonly ToolCall[];
  /** The arguments of the call did not pass the check. */
  readonly isInvalid?: true;
  /** The tool has returned a text. */
  readonly isText?: true;
  readonly cost?: number;
  /** Models with the usage of their calls. */
  readonly ledger?: readonly Pick<RunReport['ledger'][number], 'model' | 'usage'>[];
}

/**
 * An event as an entry of a log: its public form, and what the built-in formats need, so that they
 * write the same frames of it. Without results and errors of tools beside what the model reads, values
 * of advisors and fields of providers. Undefined for a `step`, which repeats the events before it.
 * @param isContinued true if the event continues a log: there it is new, whether or not it is replayed
 */
export function encodeEvent(event: ChatEvent, isContinued: boolean): string | undefined {
  const shown = publicEvent(event, ALL_EVENTS) as
    (object & { readonly isReplayed?: true }) | undefined;
  if (!shown) return undefined;
  const { isReplayed, ...fields } = shown;
  const mark = isReplayed && !isContinued ? { isReplayed } : {};
  return JSON.stringify({
    ...fields,
    ...ofResult(event),
    ...extrasOf(event, isContinued),
    ...mark,
  });
}

export function encodeEnd(end: LogEnd): string {
  return JSON.stringify(end);
}

function extrasOf(event: ChatEvent, isContinued: boolean): { readonly extras?: Extras } {
  const extras = Object.entries(fieldsOf(event, isContinued)).filter(
    ([, value]) => value !== undefined,
  );
  return extras.length > 0 ? { extras: Object.fromEntries(extras) } : {};
}

function fieldsOf(event: ChatEvent, isContinued: boolean): object {
  switch (event.type) {
    case 'tool-call':
    case 'tool-start':
    case 'tool-progress':
      return { isInvalid: invalidMark(event.call) };
    case 'tool-result': {
      const isText = typeof event.result.value === 'string' ? true : undefined;
      return { isInvalid: invalidMark(event.call), isText };
    }
    case 'iteration':
      return { calls: publicCalls(event.response) };
    case 'response': {
      const { response, run } = event;
      const calls = run?.ledger.filter(({ isReplayed }) => isContinued || !isReplayed);
      const ledger = calls?.map(({ model, usage }) => ({ model, usage }));
      return { calls: publicCalls(response), cost: run?.cost, ledger };
    }
    default:
      return {};
  }
}

const invalidMark = ({ input }: CheckedCall): true | undefined =>
  input === undefined ? true : undefined;

function publicCalls({ message }: ChatResponse): readonly ToolCall[] | undefined {
  const calls = callsOf(message);
  if (calls.length === 0) return undefined;
  return calls.map(({ id, name, arguments: json }) => ({ id, name, arguments: json }));
}

/** Bytes of media in the result of a tool, of which JSON would make an object. */
function ofResult(event: ChatEvent): object {
  if (event.type !== 'tool-result' || typeof event.result.content === 'string') return {};
  const { content, isError } = event.result;
  const parts = content.map((part) =>
    'data' in part && part.data instanceof Uint8Array
      ? { ...part, data: { base64url: toBase64Url(part.data) } }
      : part,
  );
  return { result: { content: parts, isError } };
}

type Entry = Readonly<Record<string, unknown>> & { readonly extras?: Extras };

/** The event or the end of an entry that {@link encodeEvent} or {@link encodeEnd} has made. */
export function decodeEntry(text: string): ChatEvent | LogEnd {
  const { extras = {}, ...entry } = JSON.parse(text) as Entry;
  switch (entry['type']) {
    case 'tool-call':
    case 'tool-start':
    case 'tool-progress':
      return { ...entry, call: withInput(entry['call'], extras) } as ChatEvent;
    case 'tool-result':
      return { ...entry, call: withInput(entry['call'], extras), result: decodeResult(entry, extras) } as ChatEvent; // prettier-ignore
    case 'iteration':
      return { ...entry, response: responseOf({ text: null }, extras) } as ChatEvent;
    case 'response':
      return decodeResponse(entry['response'] as PublicResponse, extras);
    default:
      return entry as unknown as ChatEvent | LogEnd;
  }
}

/** The call; its input is what the model wrote, since instances of a schema are not logged. */
function withInput(call: unknown, { isInvalid }: Extras): CheckedCall {
  const { arguments: json } = call as ToolCall;
  if (isInvalid) return call as ToolCall;
  return { ...(call as ToolCall), input: json.trim() === '' ? {} : parsed(json) };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return json; // repaired before the check
  }
}

function decodeResult(entry: Entry, { isText }: Extras): object {
  const { content, ...result } = entry['result'] as { readonly content: Content };
  const decoded = typeof content === 'string' ? content : content.map(withBytes);
  return { ...result, content: decoded, ...(isText && { value: textOf(decoded) }) };
}

function withBytes(part: Exclude<Content, string>[number]): typeof part {
  const { data } = part as { readonly data?: { readonly base64url?: unknown } | string };
  const text = typeof data === 'object' ? data.base64url : undefined;
  const bytes = typeof text === 'string' ? fromBase64Url(text) : undefined;
  return bytes ? ({ ...part, data: bytes } as typeof part) : part;
}

type PublicResponse = Pick<ChatResponseFields, 'usage' | 'model' | 'paused'> &
  Pick<ChatResponse, 'text' | 'finishReason'> &
  Partial<Pick<ChatResponse, 'citations'>>;

function responseOf(shown: PublicResponse | { readonly text: null }, extras: Extras): ChatResponse {
  const { text, finishReason, citations, ...fields } = shown as PublicResponse;
  const { calls } = extras;
  return new ChatResponse({
    ...fields,
    generations: [
      {
        message: { role: 'assistant', content: text, ...(calls && { toolCalls: calls }) },
        ...(finishReason !== undefined && { finishReason }),
        ...(citations && { citations }),
      },
    ],
  });
}

function decodeResponse(shown: PublicResponse, extras: Extras): ResponseEvent {
  const response = responseOf(shown, extras);
  const event = { type: 'response', response, context: AdvisorContext.empty } as const;
  return extras.ledger ? { ...event, run: reportOf(response, extras) } : event;
}

/** A report with what is logged of it: cost and usage. */
function reportOf({ usage }: ChatResponse, { cost, ledger = [] }: Extras): RunReport {
  return {
    steps: [],
    transcript: [],
    partialText: '',
    usage,
    cost,
    ledger: ledger.map(({ model, usage: spent }) => ({
      kind: 'chat',
      model,
      usage: spent,
      iteration: undefined,
      attempt: 1,
      outcome: 'answered',
    })),
    toolCalls: [],
    stored: [],
    settled: Promise.resolve(),
  };
}
