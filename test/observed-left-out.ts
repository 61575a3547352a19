/** What cannot be observed in a run with test/observed-hooks.ts. */
export interface LeftOut {
  /** The path of a file of tests, or how the paths of some begin. */
  readonly file: string;
  /** What the whole titles of the tests contain. @default all tests of the file */
  readonly title?: string;
  readonly why: string;
}

const OBSERVER_IS_SEEN = 'lists all advisors, of which the observer is one';

export const LEFT_OUT: readonly LeftOut[] = [
  {
    file: 'test/advisor/advisor-chain.test.ts',
    title: 'shows each advisor all advisors in order, however often the rest was run',
    why: OBSERVER_IS_SEEN,
  },
  {
    file: 'test/advisor/advisor-chain.test.ts',
    title: 'cannot be changed through the list it was made from, nor through the one it shows',
    why: OBSERVER_IS_SEEN,
  },
  {
    file: 'test/client/auto-registration.test.ts',
    title: 'tells what runs once per turn and what once per iteration, for a client and for a request',
    why: OBSERVER_IS_SEEN,
  },
  {
    file: 'test/client/tool-provider-failures.test.ts',
    title: 'leaves no timer behind when it is done, when it fails and when another does',
    why: 'counts timers, and the exporter that keeps the spans sets one for each of them',
  },
  {
    file: 'test/testing/recording-tracer.test.ts',
    title: 'where there is a context manager',
    why: 'has a context manager and spans of its own',
  },
  { file: 'test/advisors/observability-', why: 'has spans of its own, which would be within those of the observer' },
  { file: 'test/observability/', why: 'has spans of its own, which would be within those of the observer' },
];
