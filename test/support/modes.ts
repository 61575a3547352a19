import { lastValueFrom } from 'rxjs';
import type { ChatClientResponse, PromptSpec } from '../../src/index.js';

export type Mode = 'call' | 'stream';

export const MODES: readonly Mode[] = ['call', 'stream'];

/** Runs a spec to its complete answer. */
export function runSpec(mode: Mode, spec: PromptSpec): Promise<ChatClientResponse> {
  return mode === 'call'
    ? spec.call().chatClientResponse()
    : lastValueFrom(spec.stream().chatClientResponse());
}

/** A way to run a spec to its text. */
export type Run = (spec: PromptSpec) => Promise<string | null>;

/** Both modes, with a function that runs a spec to its text. */
export const RUNS: readonly (readonly [mode: 'call' | 'stream', run: Run])[] = [
  ['call', (spec) => spec.call().content()],
  [
    'stream',
    (spec) =>
      new Promise((resolve, reject) => {
        let text = '';
        spec
          .stream()
          .content()
          .subscribe({
            next: (piece) => (text += piece),
            error: reject,
            complete: () => resolve(text),
          });
      }),
  ],
];

/** The error of a run; undefined if it succeeds. */
export function failureOf(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => undefined,
    (error: unknown) => error,
  );
}
