import type { JSX } from 'preact';

/** Two turns side by side. */
export function CompareView({
  left,
  right,
}: {
  /** Ids of the turns. */
  readonly left: string;
  readonly right: string;
}): JSX.Element {
  return (
    <section aria-labelledby="compare-title">
      <h2 id="compare-title">Two turns</h2>
      <p>
        <bdi>{left}</bdi> and <bdi>{right}</bdi>
      </p>
    </section>
  );
}
