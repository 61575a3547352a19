import type {
  Document,
  DocumentMetadata,
  MetadataValue,
  Scalar,
} from '../../core/chat/document.js';
import type { Filter } from '../../stores/vectors/filter.js';
import type { VectorStore } from '../../stores/vectors/vector-store.js';

/** Properties of every store, by test title; each check has a new namespace, and a second connection. */
export type VectorLaws = Readonly<
  Record<string, (store: VectorStore, namespace: string, other: VectorStore) => Promise<void>>
>;

/** Texts that stores are known to confuse or to damage. */
export const UNUSUAL: readonly string[] = [
  [
    'with space ',
    'new\nline',
    '"; DROP TABLE vectors; --',
    "') OR ('1'='1",
    '%',
    '_',
    '$1',
    "it's",
  ],
  ['a.b', 'a[0]', '$.a', '$', '#', '"quoted"', '\\', '\\u0041', '{}', '?', ':a', '@a', '--', '/*'],
  ['__proto__', 'constructor', 'toString', 'null', 'true', '0', '2021', 'eq', 'in', 'AND', '-1'],
  ['\u202eright', 'é', 'e\u0301', '😀', '\u{10FFFF}', '\uffff', '\ue000', '\u0001', 'İ', 'ß', 'SS'],
].flat();

const NUMBERS = [0, 1, -1, 7, 2020, 2021, 0.1, 0.3, 0.1 + 0.2, 1e-7, 1e300, -1e300, 5e-324];
const LARGE = [2 ** 53, 2 ** 53 - 1, 2 ** 63, 1.7976931348623157e308];
const VALUES: readonly Scalar[] = [
  '',
  'en',
  'EN',
  'de',
  ...UNUSUAL,
  ...NUMBERS,
  ...LARGE,
  true,
  false,
];
const KEYS = ['lang', 'year', 'tags', 'document', 'document', '', ...UNUSUAL];
const OPERATORS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'contains'];

export function documentOf(
  id: string,
  metadata?: DocumentMetadata,
  ...numbers: readonly number[]
): Document {
  const vector = new Float32Array(numbers.length > 0 ? numbers : [1, 0]);
  return { id, text: `text of ${id}`, vector, ...(metadata && { metadata }) };
}

export async function idsOf(documents: Promise<readonly Document[]>): Promise<readonly string[]> {
  return (await documents).map(({ id }) => id);
}

/** Random documents and filters, the same ones in every run. */
export class RandomCases {
  constructor(private seed: number) {}

  documents(count: number): readonly Document[] {
    return Array.from({ length: count }, (_, at) =>
      documentOf(`${at}`.padStart(4, '0'), this.metadata(), ...this.vector(4)),
    );
  }

  vector(dimensions: number): readonly number[] {
    return Array.from({ length: dimensions }, () => this.next() * 2 - 1);
  }

  /** A filter of the keys and values of documents, so that many accept some of them. */
  filter(documents: readonly Document[], depth = 0): Filter {
    const kind = this.below(depth > 2 ? 3 : 6);
    const inner = (): Filter => this.filter(documents, depth + 1);
    if (kind === 3) return { or: Array.from({ length: this.below(3) }, inner) };
    if (kind === 4) return { and: Array.from({ length: this.below(3) }, inner), ...inner() };
    if (kind === 5) return { not: inner() };
    const entries = Array.from({ length: this.below(3) }, () => this.comparison(documents));
    return Object.fromEntries(entries) as Filter;
  }

  private comparison(documents: readonly Document[]): readonly [string, unknown] {
    const entries = Object.entries(this.of(documents).metadata ?? {});
    const [key, found] = entries.length > 0 ? this.of(entries) : [this.of(KEYS), 'en'];
    const near = typeof found === 'object' ? (found[0] ?? 'en') : found;
    const value = this.below(3) === 0 ? this.of(VALUES) : near;
    const operator = this.of(OPERATORS);
    if (this.below(4) === 0) return [key, value];
    if (operator === 'in' || operator === 'nin') return [key, { [operator]: this.values(value) }];
    if (/^[gl]te?$/.test(operator) && typeof value === 'boolean') return [key, { ne: value }];
    return [key, { [operator]: value }];
  }

  private values(value: Scalar): readonly Scalar[] {
    return this.below(4) === 0
      ? []
      : [value, ...Array.from({ length: this.below(3) }, () => this.of(VALUES))];
  }

  private metadata(): DocumentMetadata {
    const entries = Array.from(
      { length: this.below(5) },
      () => [this.of(KEYS), this.value()] as const,
    );
    return Object.fromEntries(entries);
  }

  private value(): MetadataValue {
    if (this.below(4) > 0) return this.of(VALUES);
    return Array.from({ length: this.below(4) }, () => this.of(VALUES));
  }

  private of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  private below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Mulberry32: a number from 0 to 1. */
  private next(): number {
    this.seed = (this.seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
