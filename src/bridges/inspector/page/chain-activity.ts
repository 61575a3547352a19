import type { InspectedChain, InspectedTurn, TimelineEntry } from '../inspected-turn.js';

/** The boxes of a chain, by their keys, that work now or have failed. */
export interface Activity {
  readonly active: ReadonlySet<string>;
  readonly failed: ReadonlySet<string>;
}

const NONE: Activity = { active: new Set(), failed: new Set() };

/** The parts of the chain that are at work: the innermost parts of the turn that have not ended. */
export function activityOf(chain: InspectedChain, turn: InspectedTurn | undefined): Activity {
  if (!turn) return NONE;
  const keys = new Map(chain.advisors.map(({ name }, at) => [name, String(at)]));
  const keyOf = (entry: TimelineEntry): string | undefined => {
    if (entry.kind === 'model-call') return 'model';
    if (entry.kind === 'tool-call') return 'tools';
    return keys.get(entry.name);
  };
  const active = turn.outcome === 'running' ? innermostOpen(turn.timeline) : [];
  const failed = [keys.get(turn.error?.advisor ?? '')];
  return { active: present(active.map(keyOf)), failed: present(failed) };
}

function innermostOpen(timeline: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const open = timeline.filter(({ end }) => end === undefined);
  const parents = new Set(open.map(({ parent }) => parent));
  return open.filter(({ id }) => !parents.has(id));
}

const present = (keys: readonly (string | undefined)[]): ReadonlySet<string> =>
  new Set(keys.filter((key) => key !== undefined));
