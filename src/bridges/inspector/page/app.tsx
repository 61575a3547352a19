import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CompareView } from './compare-view.js';
import { Header } from './header.js';
import { route } from './route.js';
import { announcement, canTry, clientChain, selectedId, selectedTurn } from './store.js';
import { TryView } from './try-view.js';
import { TurnList } from './turn-list.js';
import { TurnView } from './turn-view.js';
import { Welcome } from './welcome.js';

/** The page: list of turns, chain, and the turn that is shown. */
export function App(): JSX.Element {
  const { view } = route.value;
  const isDetail = view !== 'turn' || selectedId.value !== undefined;
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) followFocus();
    isFirst.current = false;
  }, [view, selectedId.value]);
  return (
    <div class={isDetail ? 'app has-detail' : 'app'}>
      <a class="skip" href="#detail" onClick={focusDetail}>
        Skip to the turn
      </a>
      <Header />
      <main>
        <TurnList />
        <div id="detail" class="detail-pane" tabIndex={-1}>
          <Detail />
        </div>
      </main>
      <div class="visually-hidden" aria-live="polite">
        {announcement.value}
      </div>
    </div>
  );
}

/**
 * Begins at the top of what is shown; on a narrow page the list takes the place of the turn and the other way round, and the
 * focus is moved from what is gone.
 */
function followFocus(): void {
  const detail = document.getElementById('detail');
  if (detail) detail.scrollTop = 0;
  const { activeElement: focused, body } = document;
  if (focused !== body && focused?.checkVisibility()) return;
  const row = document.querySelector<HTMLElement>('.rows a[tabindex="0"]');
  const isList = !detail?.checkVisibility();
  (isList ? row : detail)?.focus({ preventScroll: true });
}

/** The hash of the address is the route, so the link does not change it. */
function focusDetail(event: Event): void {
  event.preventDefault();
  document.getElementById('detail')?.focus();
}

function Detail(): JSX.Element {
  const current = route.value;
  if (current.view === 'compare') return <CompareView left={current.left} right={current.right} />;
  if (current.view === 'try') return <TryView chain={clientChain.value} canTry={canTry.value} />;
  if (current.view === 'turn' && current.id !== undefined)
    return <TurnView id={current.id} turn={selectedTurn.value} />;
  return <Welcome />;
}
