import { signal } from '@preact/signals';

export const TABS = ['timeline', 'requests', 'state', 'try'] as const;
export type Tab = (typeof TABS)[number];

/** The part of the page that is shown, as the hash of its address has it. */
export type Route =
  | { readonly view: 'turn'; readonly id?: string; readonly tab: Tab }
  | { readonly view: 'chain' }
  | { readonly view: 'try' }
  | { readonly view: 'compare'; readonly left: string; readonly right: string };

/** `#/turns/ID/TAB`, `#/chain`, `#/try`, or `#/compare/ID/ID`. */
export function hashOf(route: Route): string {
  if (route.view === 'try' || route.view === 'chain') return `#/${route.view}`;
  if (route.view === 'compare')
    return `#/compare/${encodeURIComponent(route.left)}/${encodeURIComponent(route.right)}`;
  if (route.id === undefined) return '#/';
  return `#/turns/${encodeURIComponent(route.id)}/${route.tab}`;
}

/** The route of a hash; the list alone for one that is unknown. */
export function routeOf(hash: string): Route {
  const [view, first, second] = hash.replace(/^#\/?/, '').split('/').map(decoded);
  if (view === 'try' || view === 'chain') return { view };
  if (view === 'compare' && first && second) return { view, left: first, right: second };
  if (view !== 'turns' || !first) return { view: 'turn', tab: 'timeline' };
  return { view: 'turn', id: first, tab: TABS.find((tab) => tab === second) ?? 'timeline' };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal<Route>(routeOf(location.hash));

window.addEventListener('hashchange', () => {
  route.value = routeOf(location.hash);
});

/** Shows a part of the page; `replace` leaves no entry in the history of the browser. */
export function show(next: Route, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', hashOf(next));
  else history.pushState(null, '', hashOf(next));
  route.value = next;
}
