import type { JSX } from 'preact';
import { ChainView } from './chain-view.js';
import { hashOf } from './route.js';
import { canTry, clientChain, connection, summaries } from './store.js';

/** The page without a turn: the chain of the client, and what to do first. */
export function Welcome(): JSX.Element {
  const chain = clientChain.value;
  return (
    <div class="welcome">
      <section class="card" aria-labelledby="welcome-title">
        <h2 id="welcome-title">
          {summaries.value.size > 0 ? 'Choose a turn' : 'Waiting for the first turn'}
        </h2>
        <ol class="steps">
          {summaries.value.size === 0 && (
            <li>
              Send a prompt with your client, as your application does
              {canTry.value && (
                <>
                  , or <a href={hashOf({ view: 'try' })}>try one here</a>
                </>
              )}
              .
            </li>
          )}
          <li>Choose the turn in the list. It is drawn while it runs.</li>
          <li>
            Open “Requests” to see the exact request of each model call, and the advisor that made
            each change.
          </li>
        </ol>
        {connection.value === 'lost' && (
          <p class="warning">The process of the inspector does not answer. Is it running?</p>
        )}
      </section>
      {chain && <ChainView chain={chain} />}
    </div>
  );
}
