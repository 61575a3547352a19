/** A stream of chunks whose allocations are measured. */
export interface AllocationCase {
  readonly name: string;
  /** Number of advisors besides the tool loop, and their method. */
  readonly advisors: number;
  readonly kind: 'before' | 'around';
  readonly variant: 'none' | 'api' | 'sdk';
  /** True for a model that creates an object per chunk, to check the measuring method. */
  readonly isNew: boolean;
  /** Two lengths of the stream. */
  readonly lengths: readonly [number, number];
}

const SHORT_LONG = [100_000, 1_000_000] as const;
const without = { kind: 'before', variant: 'none', isNew: false, lengths: SHORT_LONG } as const;

export const ALLOCATION_CASES: readonly AllocationCase[] = [
  {
    ...without,
    name: 'one new object for each chunk (checks the method)',
    advisors: 0,
    isNew: true,
  },
  { ...without, name: 'no advisor', advisors: 0 },
  { ...without, name: '10 advisors with `before`', advisors: 10 },
  { ...without, name: '10 advisors with `around`', advisors: 10, kind: 'around' },
  { ...without, name: 'observability, API only', advisors: 0, variant: 'api' },
  {
    ...without,
    name: 'observability, SDK',
    advisors: 0,
    variant: 'sdk',
    lengths: [10_000, 100_000],
  },
];

/** Growth of the heap in bytes for each of the two lengths, and the objects created per chunk. */
export interface Allocation {
  readonly bytes: readonly [number, number];
  readonly objects: number;
}
