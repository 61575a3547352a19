import { isDelta, type ChatEvent, type ToolCallDelta } from '../../core/chat/chat-event.js';
import { safeJson } from '../../core/internal/safe-json.js';
import { ALL_EVENTS, publicProgress } from '../http/public-event.js';

/** The events of one iteration, folded: what is shown of it. */
export class IterationContent {
  /** All events in order. */
  readonly events: ChatEvent[] = [];
  /** Events that are no deltas, by what is the same in a replay; with their number. */
  private readonly keys = new Map<string, number>();
  private readonly texts = { 'text-delta': '', 'reasoning-delta': '' };
  private readonly calls = new Map<number, Required<ToolCallDelta>>();
  private citations = 0;

  add(event: ChatEvent): void {
    this.events.push(event);
    if (event.type === 'text-delta' || event.type === 'reasoning-delta')
      this.texts[event.type] += event.text;
    else if (event.type === 'tool-call-delta') this.addCall(event);
    else if (event.type === 'citation') this.citations++;
    else this.keys.set(keyOf(event), this.countOf(event) + 1);
  }

  /** Number of events that are the same. */
  countOf(event: ChatEvent): number {
    return this.keys.get(keyOf(event)) ?? 0;
  }

  /** True if another content begins with the deltas of this one. */
  isBeginOf(other: IterationContent): boolean {
    const calls = [...this.calls].every(([index, { id, arguments: json }]) => {
      const call = other.calls.get(index);
      return call?.id === id && call.arguments.startsWith(json);
    });
    const texts = (['text-delta', 'reasoning-delta'] as const).every((type) =>
      other.texts[type].startsWith(this.texts[type]),
    );
    return calls && texts && this.citations <= other.citations;
  }

  /** The events to add to the begin of this content, so that it has all of it. */
  restAfter(begin: IterationContent): readonly ChatEvent[] {
    const deltas: ChatEvent[] = [];
    for (const type of ['reasoning-delta', 'text-delta'] as const) {
      const text = this.texts[type].slice(begin.texts[type].length);
      if (text !== '') deltas.push({ type, text });
    }
    const citations = this.events.filter(({ type }) => type === 'citation');
    deltas.push(...citations.slice(begin.citations));
    for (const [index, call] of this.calls) {
      const known = begin.calls.get(index);
      if (!known) deltas.push(call);
      else if (call.arguments.length > known.arguments.length)
        deltas.push({ type: 'tool-call-delta', index, arguments: call.arguments.slice(known.arguments.length) }); // prettier-ignore
    }
    const others = this.newOthers(begin);
    const isBeforeDeltas = ({ type }: ChatEvent): boolean => type === 'iteration-start';
    return [...others.filter(isBeforeDeltas), ...deltas, ...others.filter((event) => !isBeforeDeltas(event))]; // prettier-ignore
  }

  private newOthers(begin: IterationContent): readonly ChatEvent[] {
    const counts = new Map<string, number>();
    return this.events.filter((event) => {
      if (isDelta(event)) return false;
      const key = keyOf(event);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count > begin.countOf(event);
    });
  }

  private addCall({ type, index, id = '', name = '', arguments: json }: ToolCallDelta): void {
    const known = this.calls.get(index);
    const call = known ?? { type, index, id, name, arguments: '' };
    this.calls.set(index, { ...call, arguments: call.arguments + json } as Required<ToolCallDelta>);
  }
}

/** Identity of an event within its iteration, the same when a replay shows it again. */
function keyOf(event: ChatEvent): string {
  switch (event.type) {
    case 'tool-call':
    case 'tool-start':
    case 'tool-result':
      return `${event.type} ${event.call.id}`;
    case 'tool-progress':
      return `${event.type} ${event.call.id} ${JSON.stringify(publicProgress(event.data, ALL_EVENTS)?.data)}`;
    case 'custom': {
      const { name, data } = event as { readonly name: string; readonly data: unknown };
      return `custom ${name} ${JSON.stringify(safeJson(data))}`;
    }
    default:
      return event.type;
  }
}

/** The events of a turn by iteration, without those that were retracted. */
export class TurnContent {
  private readonly iterations = new Map<number, IterationContent>();
  /** The iteration that events belong to; -1 before the first one. */
  current = -1;

  add(event: ChatEvent): void {
    if (event.type === 'retract') return this.retract(event.iteration);
    if (event.type === 'iteration-start') this.current = event.index;
    const content = this.iterations.get(this.current) ?? new IterationContent();
    this.iterations.set(this.current, content);
    content.add(event);
  }

  retract(iteration: number): void {
    for (const index of this.indexes()) if (index >= iteration) this.iterations.delete(index);
    this.current = Math.min(this.current, iteration);
  }

  of(index: number): IterationContent | undefined {
    return this.iterations.get(index);
  }

  indexes(): readonly number[] {
    return [...this.iterations.keys()].toSorted((a, b) => a - b);
  }
}
