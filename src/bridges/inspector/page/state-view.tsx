import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AdvisorState, InspectedTurn } from '../inspected-turn.js';
import { readStates } from './api.js';
import { JsonView } from './parts/json-view.js';

/** The states of the advisors in the conversation of a turn. */
export function StateView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const [states, setStates] = useState<readonly AdvisorState[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    readStates(turn.id).then(setStates, (error: unknown) => setProblem(String(error)));
  }, [turn.id, turn.revision]);
  return (
    <section aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      {problem && <p role="alert">{problem}</p>}
      {states.map(({ advisor, state }) => (
        <JsonView key={advisor} value={state} name={advisor} />
      ))}
    </section>
  );
}
