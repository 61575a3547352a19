import { nonEmptyString, type JsonObject } from '../../../core/internal/options.js';
import { OutputItem } from './output-item.js';

/**
 * The items of an answer while their pieces arrive. An event belongs to an item by its position in
 * the output, then by id: some servers give an item another id in each event, others leave out the
 * position or the event that announces an item, or send position 0 for every one.
 */
export class OpenItems {
  /** In the order of arrival. */
  readonly all: OutputItem[] = [];
  private readonly byPosition = new Map<number, OutputItem>();
  private readonly byId = new Map<string, OutputItem>();
  /** Items of a type, in the order of arrival. */
  private readonly byType = new Map<unknown, OutputItem[]>();
  /** Number of items of a type in the final output so far. */
  private readonly counts = new Map<unknown, number>();

  /** The item that is announced. */
  added(event: JsonObject, item: JsonObject): OutputItem {
    const known = this.at(event, item['type']) ?? this.named(item['id'], item['type']);
    if (!known || known.isClosed || isOtherCall(known.item, item)) return this.open(event, item);
    known.item = item;
    return known;
  }

  /** The item that is complete; undefined if it was before. */
  done(event: JsonObject, item: JsonObject): OutputItem | undefined {
    const { type, id } = item;
    const known = this.at(event, type) ?? this.named(id, type);
    if (known?.isClosed && isSame(known.item, item)) return undefined;
    return close(known && !known.isClosed ? known : this.open(event, item), item);
  }

  /**
   * The item of a piece.
   * @param isWhole true if the piece repeats a part; one of a complete item is not needed
   */
  find(event: JsonObject, type: string, isWhole: boolean): OutputItem | undefined {
    const known =
      this.at(event, type) ?? this.named(event['item_id'], type) ?? this.unnumbered(event, type);
    if (known && (isWhole || !known.isClosed)) return known.isClosed ? undefined : known;
    return this.open(event, { type, id: event['item_id'] });
  }

  /** The item of the final output that has not arrived as a whole before. */
  last(item: JsonObject, position: number): OutputItem | undefined {
    const { type } = item;
    const count = this.counts.get(type) ?? 0;
    this.counts.set(type, count + 1);
    const known = this.byType.get(type)?.[count];
    if (!known) return close(this.open({ output_index: position }, item), item);
    if (!known.isClosed) return close(known, item);
    // some servers sign reasoning at the end only
    if (item['encrypted_content'] && !known.item['encrypted_content']) known.item = item;
    return undefined;
  }

  private at({ output_index: position }: JsonObject, type: unknown): OutputItem | undefined {
    if (typeof position !== 'number') return undefined;
    const known = this.byPosition.get(position);
    return known?.type === type ? known : undefined;
  }

  private named(id: unknown, type: unknown): OutputItem | undefined {
    const known = typeof id === 'string' ? this.byId.get(id) : undefined;
    return known?.type === type ? known : undefined;
  }

  /** For events with neither a position nor an id. */
  private unnumbered(event: JsonObject, type: unknown): OutputItem | undefined {
    if (typeof event['output_index'] === 'number' || event['item_id']) return undefined;
    return this.byType.get(type)?.at(-1);
  }

  private open({ output_index: position }: JsonObject, item: JsonObject): OutputItem {
    const opened = new OutputItem(this.all.length, item);
    this.all.push(opened);
    if (typeof position === 'number') this.byPosition.set(position, opened);
    const id = nonEmptyString(item['id']);
    if (id) this.byId.set(id, opened);
    const ofType = this.byType.get(opened.type);
    if (ofType) ofType.push(opened);
    else this.byType.set(opened.type, [opened]);
    return opened;
  }
}

function close(open: OutputItem, item: JsonObject): OutputItem {
  open.item = item;
  open.isClosed = true;
  return open;
}

function isOtherCall({ call_id: known }: JsonObject, { call_id: id }: JsonObject): boolean {
  return Boolean(known) && Boolean(id) && known !== id;
}

/** True if an item arrives again. */
function isSame(known: JsonObject, item: JsonObject): boolean {
  const name = ['call_id', 'id'].find((field) => known[field] || item[field]);
  return name === undefined || known[name] === item[name];
}
