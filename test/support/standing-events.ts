import type { ChatEvent } from '../../src/index.js';

/** The rest of the events that a reader has got: without the retracted ones. */
export interface Standing {
  /** The text of each iteration. */
  readonly texts: readonly string[];
  readonly reasonings: readonly string[];
  /** Events that are no deltas. */
  readonly keys: readonly string[];
}

export function standing(events: readonly ChatEvent[]): Standing {
  let current = -1;
  let kept: { readonly iteration: number; readonly event: ChatEvent }[] = [];
  for (const event of events) {
    if (event.type === 'retract') {
      kept = kept.filter(({ iteration }) => iteration < event.iteration);
      current = Math.min(current, event.iteration);
      continue;
    }
    if (event.type === 'iteration-start') current = event.index;
    kept.push({ iteration: current, event });
  }
  const last = Math.max(-1, ...kept.map(({ iteration }) => iteration));
  const join = (type: 'text-delta' | 'reasoning-delta', at: number): string =>
    kept
      .map(({ event, iteration }) => (iteration === at && event.type === type ? event.text : ''))
      .join('');
  const indexes = Array.from({ length: last + 1 }, (_, at) => at);
  return {
    texts: indexes.map((at) => join('text-delta', at)),
    reasonings: indexes.map((at) => join('reasoning-delta', at)),
    keys: kept.flatMap(({ event, iteration }) => {
      const { type } = event;
      if (type.endsWith('-delta') || type === 'citation' || type === 'step') return [];
      return [`${type} ${iteration} ${'call' in event ? event.call.id : ''}`];
    }),
  };
}
