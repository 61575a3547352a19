import type { ComponentChildren, JSX } from 'preact';
import type { JsonValue } from '../../../../core/internal/json.js';
import type { Message } from '../../../../core/chat/message.js';
import type { ToolDefinition } from '../../../../core/chat/tool-definition.js';
import type { RequestChange } from '../../inspected-turn.js';
import { textOf } from '../parts/message-text.js';
import { ShownText } from '../parts/text.js';
import { changeInWords } from './change-words.js';
import { TextDifference } from './text-difference.js';

/** Characters of a message in a list of changes: the request beside it has all of it. */
const EXCERPT = 300;

const SIGNS = { added: '+', removed: '−', changed: '±' };

/** A change in a sentence, with the old and the new. */
export function ChangeView({
  change,
  by,
  onShow,
}: {
  readonly change: RequestChange;
  /** Name of the advisor, where a list has changes of many. */
  readonly by?: string;
  /** Shows the place in the request; absent if it is not in it. */
  readonly onShow?: (() => void) | undefined;
}): JSX.Element {
  const kind = kindOf(change);
  return (
    <li class={`change ${kind}`}>
      <p class="change-title">
        <span class="sign" aria-hidden="true">
          {SIGNS[kind]}
        </span>
        <span>
          {by !== undefined && <bdi class="advisor-name">{by}</bdi>} {changeInWords(change)}
        </span>
        {onShow && (
          <button type="button" class="link" onClick={onShow}>
            show<span class="visually-hidden"> in the request: {changeInWords(change)}</span>
          </button>
        )}
      </p>
      <Detail change={change} />
    </li>
  );
}

function kindOf(change: RequestChange): keyof typeof SIGNS {
  if (change.type.endsWith('-added')) return 'added';
  return change.type.endsWith('-removed') ? 'removed' : 'changed';
}

function Detail({ change }: { readonly change: RequestChange }): JSX.Element | null {
  switch (change.type) {
    case 'message-added':
    case 'message-removed':
      return <Excerpt text={excerptOf(change.message)} />;
    case 'message-changed':
      return <ChangedMessage before={change.before} after={change.after} />;
    case 'tool-added':
    case 'tool-removed':
      return <Excerpt text={change.tool.description} />;
    case 'tool-changed':
      return <ChangedTool before={change.before} after={change.after} />;
    case 'option-changed':
      return hasDetail(change) ? (
        <ChangedValue before={change.before} after={change.after} />
      ) : null;
    case 'model-changed':
      return null;
  }
}

function Excerpt({ text }: { readonly text: string }): JSX.Element | null {
  if (text === '') return null;
  return (
    <div class="excerpt">
      <ShownText text={text} limit={EXCERPT} />
    </div>
  );
}

/** The text of a message, or else what it has in its place. */
function excerptOf(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const lines = calls.map(({ name, arguments: text }) => `${name}(${text})`);
  return [textOf(message), ...lines].filter((line) => line !== '').join('\n');
}

function ChangedMessage({
  before,
  after,
}: {
  readonly before: Message;
  readonly after: Message;
}): JSX.Element {
  const [old, now] = [before, after].map(textOf) as [string, string];
  const [oldRest, newRest] = [before, after].map(restOf) as [string, string];
  return (
    <>
      {old !== now && <TextDifference before={old} after={now} />}
      {oldRest !== newRest && (
        <Part title={old === now ? 'Other fields' : 'Also other fields'}>
          <TextDifference before={oldRest} after={newRest} />
        </Part>
      )}
    </>
  );
}

function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="mono">
      <p class="muted small">{title}</p>
      {children}
    </div>
  );
}

/** The fields of a message but for its text. */
function restOf({ content, ...rest }: Message): string {
  const parts = Array.isArray(content) ? content.filter(({ type }) => type !== 'text') : [];
  return JSON.stringify(parts.length > 0 ? { ...rest, content: parts } : rest, null, 2);
}

function ChangedTool({
  before: { description: old, ...oldRest },
  after: { description: now, ...newRest },
}: {
  readonly before: ToolDefinition;
  readonly after: ToolDefinition;
}): JSX.Element {
  const [oldJson, newJson] = [oldRest, newRest].map((rest) => JSON.stringify(rest, null, 2)) as [
    string,
    string,
  ];
  return (
    <>
      {old !== now && <TextDifference before={old} after={now} />}
      {oldJson !== newJson && (
        <Part title="Schema">
          <TextDifference before={oldJson} after={newJson} />
        </Part>
      )}
    </>
  );
}

/** Characters of values that the sentence of a change has. */
const SHORT_VALUE = 40;

/** True for a change whose sentence is not all of it. */
export function hasDetail(change: RequestChange): boolean {
  if (change.type === 'model-changed') return false;
  if (change.type !== 'option-changed') return true;
  return [change.before, change.after].some((value) => jsonOf(value).length > SHORT_VALUE);
}

const jsonOf = (value: JsonValue | undefined): string =>
  value === undefined ? '' : JSON.stringify(value, null, 2);

function ChangedValue({
  before,
  after,
}: {
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}): JSX.Element {
  return (
    <div class="mono">
      <TextDifference before={jsonOf(before)} after={jsonOf(after)} />
    </div>
  );
}
