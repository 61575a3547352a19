import type { JSX } from 'preact';
import type { JsonValue } from '../../../../core/internal/json.js';
import type { ContentPart, Message, ToolCall } from '../../../../core/chat/message.js';
import { mediaSize } from '../parts/format.js';
import { JsonView } from '../parts/json-view.js';
import { LongText } from '../parts/exact-text.js';
import { textOf } from '../parts/message-text.js';
import { parsedJson } from '../parts/parsed-json.js';
import { roleInWords } from './change-words.js';
import { originsInWords, type Origin } from './origins.js';
import { TextDifference } from './text-difference.js';

/** A message as the model gets it, with the advisors that added or changed it. */
export function MessageView({
  message,
  number,
  id,
  origins = [],
}: {
  readonly message: Message;
  /** From 1. */
  readonly number?: number;
  readonly id?: string;
  readonly origins?: readonly Origin[];
}): JSX.Element {
  const marks = [...new Set(origins.map(({ verb }) => verb))].join(' ');
  return (
    <li
      class={`message ${message.role} ${marks}`}
      id={id}
      tabIndex={id === undefined ? undefined : -1}
    >
      <header>
        {number !== undefined && <span class="muted">{number}</span>}
        <strong>
          <bdi>{roleInWords(message, false)}</bdi>
        </strong>
        {message.role === 'tool' && message.isError && <span class="label bad">error</span>}
        {origins.length > 0 && <span class={`label ${marks}`}>{originsInWords(origins)}</span>}
      </header>
      <Body message={message} />
      <Before origins={origins} />
    </li>
  );
}

/** The text, parts, calls and other fields of a message. */
function Body({ message }: { readonly message: Message }): JSX.Element {
  const { content } = message;
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return (
    <div class="message-body">
      {message.role === 'assistant' && message.reasoning && (
        <details>
          <summary>Reasoning</summary>
          <LongText text={message.reasoning} />
        </details>
      )}
      {typeof content === 'string'
        ? content !== '' && <TextOrJson text={content} isResult={message.role === 'tool'} />
        : content?.map((part, at) => <PartView key={at} part={part} />)}
      {message.role === 'assistant' && message.refusal && (
        <p>
          <span class="label bad">refusal</span> <LongText text={message.refusal} />
        </p>
      )}
      {calls.map((call) => (
        <CallView key={call.id} call={call} />
      ))}
      {message.role === 'tool' && <p class="muted small">Call {message.toolCallId}</p>}
      {message.metadata && Object.keys(message.metadata).length > 0 && (
        <JsonView value={message.metadata as JsonValue} name="metadata" open={false} />
      )}
    </div>
  );
}

/** Results of tools are often JSON, which reads better as a tree. */
function TextOrJson({
  text,
  isResult,
}: {
  readonly text: string;
  readonly isResult: boolean;
}): JSX.Element {
  const value = isResult ? parsedJson(text) : undefined;
  return typeof value === 'object' && value !== null ? (
    <JsonView value={value} />
  ) : (
    <LongText text={text} />
  );
}

function PartView({ part }: { readonly part: ContentPart }): JSX.Element {
  if (part.type === 'text') return <LongText text={part.text} />;
  if (part.type === 'raw')
    return <JsonView value={part.value as JsonValue} name="raw part" open={false} />;
  const { type, mediaType, url, data } = part;
  const name = part.type === 'file' ? part.name : undefined;
  return (
    <p class="media">
      <span class="label">{type}</span> {mediaType} {name && <bdi>{name}</bdi>}{' '}
      {data !== undefined && <span class="muted">{mediaSize(data)}</span>}
      {url !== undefined && <LongText text={url} limit={200} />}
    </p>
  );
}

function CallView({ call }: { readonly call: ToolCall }): JSX.Element {
  const value = parsedJson(call.arguments);
  return (
    <div class="call">
      <p>
        Calls{' '}
        <strong class="mono">
          <bdi>{call.name}</bdi>
        </strong>{' '}
        <span class="muted small">
          <bdi>{call.id}</bdi>
        </span>
      </p>
      {value === undefined ? (
        <>
          <p class="label bad">not valid JSON</p>
          <LongText text={call.arguments} />
        </>
      ) : (
        <JsonView value={value} name="arguments" />
      )}
    </div>
  );
}

/** The message before the last advisor that changed it. */
function Before({ origins }: { readonly origins: readonly Origin[] }): JSX.Element | null {
  const changed = origins.filter(({ change }) => change.type === 'message-changed');
  if (changed.length === 0) return null;
  return (
    <details class="before">
      <summary>Compare with the message before</summary>
      {changed.map(({ advisor, change }, at) =>
        change.type === 'message-changed' ? (
          <div key={at}>
            <p class="muted small">
              changed by <bdi>{advisor}</bdi>
            </p>
            <TextDifference before={textOf(change.before)} after={textOf(change.after)} />
          </div>
        ) : null,
      )}
    </details>
  );
}
