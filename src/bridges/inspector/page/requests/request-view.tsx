import type { JSX } from 'preact';
import type { JsonValue } from '../../../../core/internal/json.js';
import type { ToolDefinition } from '../../../../core/chat/tool-definition.js';
import type { InspectedRequest } from '../../inspected-turn.js';
import { LongText } from '../parts/exact-text.js';
import { JsonView } from '../parts/json-view.js';
import { plural } from './change-words.js';
import { MessageView } from './message-view.js';
import { originsInWords, type Origin, type Origins } from './origins.js';

/** Messages that are shown before the reader asks for more. */
const PAGE = 60;

/** The id of the element of a message, for links of changes. */
export const messageId = (place: number): string => `message-${place + 1}`;

/** A request as the model gets it. */
export function RequestView({
  request,
  origins,
  isWhole,
  onWhole,
}: {
  readonly request: InspectedRequest;
  readonly origins: Origins;
  /** False shows the last messages alone, if there are many. */
  readonly isWhole: boolean;
  readonly onWhole: () => void;
}): JSX.Element {
  const { model, messages, tools, options, wire } = request;
  const left = isWhole ? 0 : Math.max(0, messages.length - PAGE);
  return (
    <section class="request" aria-labelledby="request-title">
      <h3 id="request-title">The request</h3>
      <p class="facts">
        {model && (
          <span>
            <bdi>{model}</bdi> <By origins={origins.model} />
          </span>
        )}
        <span>{plural(messages.length, 'message')}</span>
        <span>{plural(tools.length, 'tool')}</span>
      </p>
      <h4>Messages</h4>
      {left > 0 && (
        <button type="button" onClick={onWhole}>
          Show {plural(left, 'earlier message')}
        </button>
      )}
      <ol class="messages" start={left + 1}>
        {messages.slice(left).map((message, at) => (
          <MessageView
            key={left + at}
            message={message}
            number={left + at + 1}
            id={messageId(left + at)}
            origins={origins.messages[left + at] ?? []}
          />
        ))}
      </ol>
      <h4>Tools</h4>
      <Tools tools={tools} origins={origins} />
      <h4>Options</h4>
      <Options options={options} origins={origins} />
      <h4>Sent over the network</h4>
      <Wire wire={wire} />
    </section>
  );
}

function By({ origins }: { readonly origins: readonly Origin[] | undefined }): JSX.Element | null {
  if (!origins?.length) return null;
  const verbs = [...new Set(origins.map(({ verb }) => verb))].join(' ');
  return <span class={`label ${verbs}`}>{originsInWords(origins)}</span>;
}

function Tools({
  tools,
  origins,
}: {
  readonly tools: readonly ToolDefinition[];
  readonly origins: Origins;
}): JSX.Element {
  if (tools.length === 0) return <p class="muted">No tools are offered.</p>;
  return (
    <ul class="tools">
      {tools.map((tool) => (
        <li key={tool.name}>
          <details>
            <summary>
              <strong class="mono">
                <bdi>{tool.name}</bdi>
              </strong>{' '}
              <By origins={origins.tools.get(tool.name)} />
            </summary>
            <LongText text={tool.description} />
            <JsonView value={tool.inputSchema as JsonValue} name="arguments" />
            {tool.outputSchema && (
              <JsonView value={tool.outputSchema as JsonValue} name="result" open={false} />
            )}
            {tool.strict !== undefined && <p class="small">strict: {String(tool.strict)}</p>}
            {tool.deferLoading && <p class="small">found by the tool search of the provider</p>}
          </details>
        </li>
      ))}
    </ul>
  );
}

function Options({
  options,
  origins,
}: {
  readonly options: InspectedRequest['options'];
  readonly origins: Origins;
}): JSX.Element {
  const names = Object.keys(options);
  if (names.length === 0) return <p class="muted">No options are set.</p>;
  return (
    <ul class="options">
      {names.map((name) => (
        <li key={name}>
          <JsonView value={options[name] as JsonValue} name={name} />{' '}
          <By origins={origins.options.get(name)} />
        </li>
      ))}
    </ul>
  );
}

function Wire({ wire }: { readonly wire: InspectedRequest['wire'] }): JSX.Element {
  if (!wire) return <p class="muted">The model did not report what it sent.</p>;
  return (
    <>
      {wire.url !== undefined && (
        <p class="mono">
          POST <LongText text={wire.url} limit={300} />
        </p>
      )}
      <JsonView value={wire.body} name="body" open={false} />
    </>
  );
}
