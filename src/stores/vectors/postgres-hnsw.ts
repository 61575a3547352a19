import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  checkOptions,
  numberBetween,
  required,
  rule,
  type Rule,
} from '../../core/internal/options.js';
import type { PostgresClient } from '../databases/postgres.js';

/** An HNSW index of pgvector (Malkov and Yashunin, 2016), for vectors of one number of dimensions. */
export interface HnswOptions {
  /** Dimensions of the vectors; an integer from 1 to 2,000, the most that pgvector indexes. */
  readonly dimensions: number;
  /** Candidates of a search, from 1 to 1,000: more find more of the nearest documents, and take longer. @default 100 */
  readonly efSearch?: number | undefined;
}

const RULES = { dimensions: required(integerTo(2_000)), efSearch: integerTo(1_000) };

function integerTo(max: number): Rule {
  const { accepts } = numberBetween(1, max);
  return rule(`an integer from 1 to ${max}`, (value) => Number.isInteger(value) && accepts(value));
}

/** The SQL of an approximate search. */
export class PostgresHnsw {
  readonly dimensions: number;
  private readonly efSearch: number;

  /** @throws {@link InvalidArgumentError} */
  constructor(where: string, options: HnswOptions) {
    checkOptions(where, options, RULES);
    const { dimensions, efSearch = 100 } = options;
    this.dimensions = dimensions;
    this.efSearch = efSearch;
  }

  /** Creates the index, with quoted names. */
  createIndex(table: string, index: string): string {
    return `CREATE INDEX IF NOT EXISTS ${index} ON ${table}
      USING hnsw ((${this.indexed}) vector_cosine_ops) WHERE ${this.isIndexed}`;
  }

  /**
   * Selects the nearest rows with their `distance`, in strict order. The scan of the index continues
   * until enough rows pass the condition, or until `hnsw.max_scan_tuples`: it may find too few.
   */
  nearest(table: string, vector: string, condition: string, limit: string): string {
    const distance = `${this.indexed} <=> ${vector}::text::vector(${this.dimensions})`;
    // settings of this statement alone, which a pool needs; the rows depend on them, so they are set before
    return `WITH settings AS MATERIALIZED (
        SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
          set_config('hnsw.ef_search', '${this.efSearch}', true)
      )
      SELECT found.* FROM settings CROSS JOIN LATERAL (
        SELECT id, text, metadata, ${distance} AS distance FROM ${table}
        WHERE ${this.isIndexed} AND ${condition} ORDER BY ${distance} LIMIT ${limit}
      ) AS found`;
  }

  private get indexed(): string {
    return `vector::vector(${this.dimensions})`;
  }

  private get isIndexed(): string {
    return `vector_dims(vector) = ${this.dimensions}`;
  }
}

/** @throws {@link InvalidArgumentError} if the server does not have pgvector, or an older one than an index needs */
export async function checkPgvector(
  where: string,
  client: PostgresClient,
  withHnsw: boolean,
): Promise<void> {
  const { rows } = await client.query(
    `SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'),
         (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
         (SELECT '0' WHERE to_regtype('vector') IS NOT NULL)) AS version`,
  );
  const [{ version } = {}] = rows as readonly { readonly version?: string | null }[];
  const install = 'install pgvector on the server (https://github.com/pgvector/pgvector)';
  if (version === undefined || version === null)
    throw new InvalidArgumentError(`${where} needs the extension vector: ${install}`);
  if (withHnsw && /^0\.[0-7](\.|$)|^0$/.test(version))
    throw new InvalidArgumentError(
      `${where}: hnsw needs version 0.8 of the extension vector, not ${version}: ${install}, then ALTER EXTENSION vector UPDATE`,
    );
}
