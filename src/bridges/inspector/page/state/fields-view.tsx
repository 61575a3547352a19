import type { JSX } from 'preact';
import type { JsonValue } from '../../../../core/internal/json.js';
import type { Message } from '../../../../core/chat/message.js';
import { LongText } from '../parts/exact-text.js';
import { JsonView } from '../parts/json-view.js';
import { Scroll } from '../parts/scroll.js';
import { isMessages } from './conversation.js';
import { inWords } from './field-words.js';
import { MessageList } from './memory-view.js';

type Fields = Readonly<Record<string, JsonValue>>;

/** Rows and columns of a table; larger lists are shown as a tree. */
const MAX_ROWS = 200;
const MAX_COLUMNS = 8;

/** Fields of a state: short values as a list, messages as messages, lists of records as tables, others as trees. */
export function FieldsView({ fields }: { readonly fields: Fields }): JSX.Element {
  const names = Object.keys(fields);
  const short = names.filter((name) => isShort(fields[name]));
  const long = names.filter((name) => !isShort(fields[name]));
  return (
    <>
      {short.length > 0 && (
        <dl class="fields">
          {short.map((name) => (
            <div key={name}>
              <dt>
                <bdi>{inWords(name)}</bdi>
              </dt>
              <dd>
                <Cell value={fields[name]} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {long.map((name) => (
        <Field key={name} name={name} value={fields[name] as JsonValue} />
      ))}
    </>
  );
}

const isShort = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' ? value.length <= 200 : typeof value !== 'object' || value === null;

function Field({ name, value }: { readonly name: string; readonly value: JsonValue }): JSX.Element {
  if (isMessages(value))
    return (
      <details class="memory-part">
        <summary>
          <bdi>{inWords(name)}</bdi> ({(value as readonly JsonValue[]).length})
        </summary>
        <MessageList messages={value as unknown as readonly Message[]} />
      </details>
    );
  const columns = columnsOf(value);
  if (columns) return <Table name={name} rows={value as readonly Fields[]} columns={columns} />;
  return (
    <div class="field">
      {typeof value === 'string' ? (
        <>
          <p class="small">
            <bdi>{inWords(name)}</bdi>
          </p>
          <LongText text={value} />
        </>
      ) : (
        <JsonView value={value} name={name} />
      )}
    </div>
  );
}

/** The columns of a list of records; undefined for what reads better as a tree. */
function columnsOf(value: JsonValue): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ROWS) return undefined;
  const rows: readonly JsonValue[] = value;
  const isRecord = (row: JsonValue): boolean =>
    typeof row === 'object' && row !== null && !Array.isArray(row);
  if (!rows.every(isRecord)) return undefined;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row as Fields)))];
  return columns.length > MAX_COLUMNS || columns.length === 0 ? undefined : columns;
}

function Table({
  name,
  rows,
  columns,
}: {
  readonly name: string;
  readonly rows: readonly Fields[];
  readonly columns: readonly string[];
}): JSX.Element {
  return (
    <Scroll label={inWords(name)}>
      <table>
        <caption>
          <bdi>{inWords(name)}</bdi>
        </caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                <bdi>{inWords(column)}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((column) => (
                <td key={column} class={typeof row[column] === 'number' ? 'number' : undefined}>
                  <Cell value={row[column]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Cell({ value }: { readonly value: JsonValue | undefined }): JSX.Element | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return <LongText text={value} limit={300} />;
  if (typeof value === 'number')
    return <>{value.toLocaleString('en', { maximumFractionDigits: 6 })}</>;
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>;
  return value === null ? <span class="muted">none</span> : <JsonView value={value} open={false} />;
}
