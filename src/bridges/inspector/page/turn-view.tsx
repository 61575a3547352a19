import type { JSX } from 'preact';
import type { InspectedTurn } from '../inspected-turn.js';
import { ApprovalsView } from './approvals-view.js';
import { ChainView } from './chain-view.js';
import { RequestsView } from './requests-view.js';
import { TABS, type Tab, hashOf, route } from './route.js';
import { StateView } from './state-view.js';
import { selectedProblem } from './store.js';
import { TimelineView } from './timeline-view.js';
import { TryView } from './try-view.js';
import { TurnHead } from './turn-head.js';

const NAMES: Readonly<Record<Tab, string>> = {
  timeline: 'Timeline',
  requests: 'Requests',
  state: 'State',
  try: 'Try it',
};

/** A turn: its figures and its chain, and what is known of it, in tabs. */
export function TurnView({
  id,
  turn,
}: {
  readonly id: string;
  readonly turn: InspectedTurn | undefined;
}): JSX.Element {
  if (!turn || turn.id !== id)
    return (
      <div class="empty">
        <a class="back" href="#/">
          ← All turns
        </a>
        <p>{selectedProblem.value ?? 'Reading the turn …'}</p>
      </div>
    );
  const tab = route.value.view === 'turn' ? route.value.tab : 'timeline';
  return (
    <>
      <TurnHead turn={turn} />
      {selectedProblem.value !== undefined && (
        <p class="warning" role="status">
          {selectedProblem.value}
        </p>
      )}
      {turn.pending.length > 0 && <ApprovalsView turn={turn} />}
      <ChainView chain={turn.chain} turn={turn} />
      <nav class="tabs" aria-label="Parts of the turn">
        {TABS.map((each) => (
          <a
            key={each}
            href={hashOf({ view: 'turn', id, tab: each })}
            aria-current={each === tab ? 'page' : undefined}
          >
            {NAMES[each]}
            {each === 'requests' && <span class="badge">{turn.requests.length}</span>}
          </a>
        ))}
      </nav>
      <Part turn={turn} tab={tab} />
    </>
  );
}

function Part({ turn, tab }: { readonly turn: InspectedTurn; readonly tab: Tab }): JSX.Element {
  switch (tab) {
    case 'timeline':
      return <TimelineView key={turn.id} turn={turn} />;
    case 'requests':
      return <RequestsView key={turn.id} turn={turn} />;
    case 'state':
      return <StateView key={turn.id} turn={turn} />;
    case 'try':
      return <TryView key={turn.id} turn={turn} chain={turn.chain} canTry={turn.isLive} />;
  }
}
