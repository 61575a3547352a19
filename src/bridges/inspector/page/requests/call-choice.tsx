import type { JSX } from 'preact';
import type { InspectedRequest } from '../../inspected-turn.js';
import { plural } from './change-words.js';

/** Chooses a call of the model. */
export function CallChoice({
  requests,
  chosen,
  onChoose,
}: {
  readonly requests: readonly InspectedRequest[];
  readonly chosen: InspectedRequest;
  readonly onChoose: (entry: number) => void;
}): JSX.Element {
  const attempts = new Map<number, number>();
  for (const { iteration } of requests) attempts.set(iteration, (attempts.get(iteration) ?? 0) + 1);
  return (
    <nav class="calls" aria-label="Calls of the model">
      {requests.map((request) => (
        <button
          key={request.entry}
          type="button"
          aria-current={request.entry === chosen.entry ? 'true' : undefined}
          onClick={() => onChoose(request.entry)}
        >
          Iteration {request.iteration + 1}
          {(attempts.get(request.iteration) ?? 0) > 1 && `, attempt ${request.attempt}`}
          <span class="small">{plural(request.messages.length, 'message')}</span>
        </button>
      ))}
    </nav>
  );
}
