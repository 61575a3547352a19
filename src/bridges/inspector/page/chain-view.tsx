import type { JSX } from 'preact';
import type { InspectedChain, InspectedTurn } from '../inspected-turn.js';

/** The chain of a turn or of the client. */
export function ChainView({
  chain,
}: {
  readonly chain: InspectedChain;
  readonly turn?: InspectedTurn;
}): JSX.Element {
  return (
    <section aria-labelledby="chain-title">
      <h2 id="chain-title">Chain</h2>
      <ol>
        {chain.advisors.map(({ name, order }) => (
          <li key={`${order} ${name}`}>
            <bdi>{name}</bdi> <span class="muted">{order}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
