import type { JSX } from 'preact';
import type { InspectedTurn } from '../inspected-turn.js';
import { JsonView } from './parts/json-view.js';
import { ShownText } from './parts/text.js';
import { textOf } from './parts/message-text.js';

/** The request of each call of the model. */
export function RequestsView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  return (
    <section aria-labelledby="requests-title">
      <h2 id="requests-title">Requests</h2>
      {turn.requests.length === 0 && <p class="empty">The model was not called in this turn.</p>}
      {turn.requests.map((request) => (
        <article key={request.entry}>
          <h3>
            Iteration {request.iteration}, attempt {request.attempt}
          </h3>
          <ol>
            {request.messages.map((message, at) => (
              <li key={at}>
                {message.role}: <ShownText text={textOf(message)} />
              </li>
            ))}
          </ol>
          <JsonView value={request.options} name="options" open={false} />
        </article>
      ))}
    </section>
  );
}
