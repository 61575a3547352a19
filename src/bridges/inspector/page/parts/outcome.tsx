import type { JSX } from 'preact';
import type { TurnSummary } from '../../inspected-turn.js';

/** A word for each way a turn ends, with a sign that differs without colour. */
const SIGNS: Readonly<Record<TurnSummary['outcome'], string>> = {
  running: '◐',
  answered: '✓',
  failed: '✕',
  paused: '‖',
  cancelled: '⊘',
};

/** The outcome of a turn as a sign, or with its word. */
export function Outcome({
  outcome,
  withWord = false,
}: {
  readonly outcome: TurnSummary['outcome'];
  readonly withWord?: boolean;
}): JSX.Element {
  return (
    <span class={`outcome ${outcome}`} title={outcome}>
      <span class="sign" aria-hidden="true">
        {SIGNS[outcome]}
      </span>
      <span class={withWord ? undefined : 'visually-hidden'}>{outcome}</span>
    </span>
  );
}
