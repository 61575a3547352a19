import type * as PapaPackage from 'papaparse';
import type { Document, MetadataValue } from '../../core/chat/document.js';
import { integer, rule, TEXT } from '../../core/internal/options.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import { missingPackage, Reading, type FileContent, type ReadOptions } from './reading.js';

/** Options of {@link readCsv}. */
export interface ReadCsvOptions extends ReadOptions {
  /**
   * Column whose value is the id of a row, behind the id of the file; a value that occurs twice is
   * refused. @default the number of the row, which changes when rows are inserted before it
   */
  readonly idColumn?: string | undefined;
  /** Columns that are metadata of their rows instead of text. @default none */
  readonly metadataColumns?: readonly string[] | undefined;
  /** Number of rows in a document; an integer >= 1, with `idColumn` always 1. @default 1 */
  readonly rowsPerDocument?: number | undefined;
  /** @default guessed from the first lines */
  readonly delimiter?: string | undefined;
}

type Row = readonly string[];

const RULES = {
  idColumn: TEXT,
  metadataColumns: rule('an array of names', Array.isArray),
  rowsPerDocument: integer(1),
  delimiter: rule('one character', (value) => typeof value === 'string' && value.length === 1),
};

/**
 * Reads the rows of a table as documents, by `papaparse`. The first row has the names of the columns; the
 * text of a row has a line `name: value` for each value that is not empty. Metadata: `row` (from 1).
 * @throws {@link DocumentReadError} if the file is broken, or a limit is exceeded
 * @throws {@link InvalidArgumentError} if the package is not installed
 */
export function readCsv(
  content: FileContent,
  options: ReadCsvOptions,
): Promise<readonly Document[]> {
  const read = async (reading: Reading): Promise<readonly Document[]> => {
    const { delimiter = '' } = options;
    const rows = await rowsOf(reading, delimiter);
    return new CsvDocuments(reading, rows[0] ?? [], options).make(rows.slice(1));
  };
  return Reading.run('readCsv', content, options, read, RULES);
}

async function rowsOf(reading: Reading, delimiter: string): Promise<readonly Row[]> {
  const { parse } = await loadPapaparse();
  const { data, errors } = parse<string[]>(reading.text, { delimiter, skipEmptyLines: 'greedy' });
  const error = errors.find(({ type }) => type === 'Quotes');
  if (error) throw reading.broken(`${error.message} (row ${(error.row ?? 0) + 1})`);
  return data;
}

/** Makes documents of rows. */
class CsvDocuments {
  private readonly names: readonly string[];
  private readonly idAt: number | undefined;
  private readonly metadataAt: ReadonlySet<number>;
  private readonly ids = new Set<string>();
  private readonly slice = new TimeSlice();

  constructor(
    private readonly reading: Reading,
    header: Row,
    private readonly options: ReadCsvOptions,
  ) {
    this.names = header.map((name) => name.trim());
    const { idColumn, metadataColumns = [] } = options;
    this.idAt = idColumn === undefined ? undefined : this.column(idColumn);
    this.metadataAt = new Set(metadataColumns.map((name) => this.column(name)));
  }

  async make(rows: readonly Row[]): Promise<readonly Document[]> {
    const count = this.idAt === undefined ? (this.options.rowsPerDocument ?? 1) : 1;
    const documents: Document[] = [];
    for (let at = 0; at < rows.length; at += count) {
      await this.slice.next();
      const part = rows.slice(at, at + count);
      const text = part.map((row) => this.textOf(row)).join('\n\n');
      this.reading.count(-text.length); // counted again as a document
      documents.push(
        this.reading.document(
          text,
          { row: at + 1, ...this.metadataOf(part[0] ?? []) },
          this.idOf(part[0] ?? [], at),
        ),
      );
    }
    return documents;
  }

  private column(name: string): number {
    const at = this.names.indexOf(name);
    if (at < 0) throw this.reading.broken(`it has no column "${name}"`);
    return at;
  }

  private textOf(row: Row): string {
    let text = '';
    for (const [at, value] of row.entries()) {
      if (value.trim() === '' || this.metadataAt.has(at)) continue;
      const line = `${this.names[at] ?? `column ${at + 1}`}: ${value.trim()}`;
      this.reading.count(line.length + Number(text !== ''));
      text += text === '' ? line : `\n${line}`;
    }
    return text;
  }

  private metadataOf(row: Row): Readonly<Record<string, MetadataValue>> {
    const entries = [...this.metadataAt].map((at) => [this.names[at] ?? '', row[at]?.trim() ?? '']);
    return Object.fromEntries(entries) as Record<string, MetadataValue>;
  }

  private idOf(row: Row, at: number): string {
    const key = this.idAt === undefined ? String(at + 1) : (row[this.idAt]?.trim() ?? '');
    if (this.ids.has(key)) throw this.reading.broken(`two rows have the id "${key}"`);
    this.ids.add(key);
    return `${this.reading.id}#${key}`;
  }
}

async function loadPapaparse(): Promise<Pick<typeof PapaPackage, 'parse'>> {
  try {
    // bundlers treat an import in a try block as optional
    return (await import('papaparse')).default;
  } catch (cause) {
    throw missingPackage('readCsv', 'papaparse@^5.5', cause);
  }
}
