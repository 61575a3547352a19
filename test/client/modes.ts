import type { PromptSpec } from '../../src/index.js';

/** A way to run a spec to its text. */
export type Run = (spec: PromptSpec) => Promise<string | null>;

/** Both ways to run a spec, for what must be the same in both. */
export const MODES: readonly (readonly [mode: 'call' | 'stream', run: Run])[] = [
  ['call', (spec) => spec.call().content()],
  [
    'stream',
    (spec) =>
      new Promise((resolve, reject) => {
        let text = '';
        spec
          .stream()
          .content()
          .subscribe({ next: (piece) => (text += piece), error: reject, complete: () => resolve(text) });
      }),
  ],
];

/** What a run fails with; undefined if it does not. */
export function failureOf(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Resolves when everything that is ready has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
