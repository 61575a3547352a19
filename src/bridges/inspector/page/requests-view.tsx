import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { InspectedRequest, InspectedTurn, NamedChange } from '../inspected-turn.js';
import { CallChoice } from './requests/call-choice.js';
import { ChangeView } from './requests/change-view.js';
import { originsOf, type Origins } from './requests/origins.js';
import { PathView } from './requests/path-view.js';
import { messageId, RequestView } from './requests/request-view.js';

/** The entry of the timeline whose request is shown; undefined for the last one. */
export const chosenCall = signal<number | undefined>(undefined);

/** The requests that the model got, one for each call, and the changes that led to them. */
export function RequestsView({ turn }: { readonly turn: InspectedTurn }): JSX.Element {
  const { requests } = turn;
  const request = requests.find(({ entry }) => entry === chosenCall.value) ?? requests.at(-1);
  return (
    <section class="requests" aria-labelledby="requests-title">
      <h2 id="requests-title">What the model got</h2>
      {turn.isCut && (
        <p class="note">Parts of this turn were dropped to keep within the bound of memory.</p>
      )}
      {request ? (
        <>
          <CallChoice
            requests={requests}
            chosen={request}
            onChoose={(entry) => {
              chosenCall.value = entry;
            }}
          />
          <Call key={request.entry} request={request} />
        </>
      ) : (
        <p class="empty">
          {turn.outcome === 'running'
            ? 'The model is not called yet.'
            : 'The model was not called in this turn.'}
        </p>
      )}
    </section>
  );
}

function Call({ request }: { readonly request: InspectedRequest }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const origins = useMemo(() => originsOf(request), [request]);
  const showMessage = (place: number): void => {
    setWhole(true);
    // The message may be in the page only after that.
    requestAnimationFrame(() => setTimeout(() => focusMessage(place)));
  };
  return (
    <div class="request-columns">
      <div>
        {request.sincePrevious && (
          <Since changes={request.sincePrevious} origins={origins} onShow={showMessage} />
        )}
        <section aria-labelledby="path-title">
          <h3 id="path-title">From the application to the model</h3>
          <PathView request={request} origins={origins} onShow={showMessage} />
        </section>
      </div>
      <RequestView
        request={request}
        origins={origins}
        isWhole={isWhole}
        onWhole={() => setWhole(true)}
      />
    </div>
  );
}

function focusMessage(place: number): void {
  const message = document.getElementById(messageId(place));
  message?.scrollIntoView({ block: 'center' });
  message?.focus({ preventScroll: true });
}

function Since({
  changes,
  origins,
  onShow,
}: {
  readonly changes: readonly NamedChange[];
  readonly origins: Origins;
  readonly onShow: (place: number) => void;
}): JSX.Element {
  return (
    <section aria-labelledby="since-title">
      <h3 id="since-title">Since the call before</h3>
      {changes.length === 0 && <p class="muted">It got the same request again.</p>}
      <ul class="changes">
        {changes.map(({ advisor, change }, at) => {
          const place = origins.places.get(change);
          return (
            <ChangeView
              key={at}
              by={advisor}
              change={change}
              onShow={place === undefined ? undefined : () => onShow(place)}
            />
          );
        })}
      </ul>
    </section>
  );
}
