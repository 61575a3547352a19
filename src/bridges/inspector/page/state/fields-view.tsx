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
/** Names of what the fields are in: an advisor, and items of lists. With its own, the name of each table is unique. */
type Path = readonly string[];

/** Rows and columns of a table; larger lists are shown as a tree. */
const MAX_ROWS = 200;
const MAX_COLUMNS = 8;

/**
 * Fields of a state: short values as a list, messages as messages, lists of records as tables, or one below the
 * other if they have lists themselves, others as trees.
 */
export function FieldsView({
  fields,
  path,
}: {
  readonly fields: Fields;
  readonly path: Path;
}): JSX.Element {
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
        <Field key={name} name={name} value={fields[name] as JsonValue} path={path} />
      ))}
    </>
  );
}

/** Characters of a value that stands among others. */
const MAX_SHORT = 200;
/** Names in a path; lists within more lists are a tree. */
const MAX_PATH = 3;

function isShort(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.length <= MAX_SHORT;
  if (typeof value !== 'object' || value === null) return true;
  return isEmpty(value) || (isTexts(value) && value.join(', ').length <= MAX_SHORT);
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
const isTexts = (value: JsonValue): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isRecord = (value: JsonValue | undefined): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** A list of records, not too long to show. */
const isRecords = (value: JsonValue | undefined): boolean =>
  Array.isArray(value) && value.length > 0 && value.length <= MAX_ROWS && value.every(isRecord);

function Field({
  name,
  value,
  path,
}: {
  readonly name: string;
  readonly value: JsonValue;
  readonly path: Path;
}): JSX.Element {
  if (isMessages(value))
    return (
      <details class="memory-part">
        <summary>
          <bdi>{inWords(name)}</bdi> ({(value as readonly JsonValue[]).length})
        </summary>
        <MessageList messages={value as unknown as readonly Message[]} />
      </details>
    );
  const rows = isRecords(value) ? (value as readonly Fields[]) : [];
  if (path.length < MAX_PATH && rows.some((row) => Object.values(row).some(isRecords)))
    return <Records name={name} rows={rows} path={path} />;
  const columns = columnsOf(rows);
  if (columns) return <Table name={name} rows={rows} columns={columns} path={path} />;
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

/** Records, each with lists of its own. */
function Records({
  name,
  rows,
  path,
}: {
  readonly name: string;
  readonly rows: readonly Fields[];
  readonly path: Path;
}): JSX.Element {
  return (
    <div class="field">
      <p class="small">
        <bdi>{inWords(name)}</bdi> ({rows.length})
      </p>
      <ol class="records">
        {rows.map((row, at) => (
          <li key={at}>
            <FieldsView fields={row} path={[...path, `${inWords(name)} ${at + 1}`]} />
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The columns of records; undefined for what reads better as a tree. */
function columnsOf(rows: readonly Fields[]): readonly string[] | undefined {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return columns.length > MAX_COLUMNS || columns.length === 0 ? undefined : columns;
}

function Table({
  name,
  rows,
  columns,
  path,
}: {
  readonly name: string;
  readonly rows: readonly Fields[];
  readonly columns: readonly string[];
  readonly path: Path;
}): JSX.Element {
  const classOf = (column: string): string | undefined =>
    rows.some((row) => typeof row[column] === 'number') ? 'number' : undefined;
  return (
    <Scroll label={[...path, inWords(name)].join(', ')}>
      <table>
        <caption>
          <bdi>{inWords(name)}</bdi>
        </caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" class={classOf(column)}>
                <bdi>{inWords(column)}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((column) => (
                <td key={column} class={classOf(column)}>
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
  if (value === null || isEmpty(value)) return <span class="muted">none</span>;
  return isShort(value) && isTexts(value) ? (
    <LongText text={value.join(', ')} limit={300} />
  ) : (
    <JsonView value={value} open={false} />
  );
}
