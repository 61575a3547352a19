import { cut } from '../chat/cut.js';

/** A text from outside within an entry, which is cut where there is not enough room; all other texts of an entry are its form. */
export class SaidText {
  private known: boolean | undefined;

  /** @param mayBeJson whether it is written as the value it stands for where it is a JSON text */
  constructor(
    readonly text: string,
    private readonly mayBeJson = false,
  ) {}

  /** Looked at once, however often an entry is cut. */
  get isJson(): boolean {
    return (this.known ??= this.mayBeJson && isJsonText(this.text));
  }
}

/** What an entry of a recorded list is made of. */
export type Written = string | number | SaidText | readonly Written[] | { readonly [name: string]: Written | undefined };

/** An entry of a recorded list. */
export type Entry = { readonly [name: string]: Written | undefined };

/** Shortest length to which texts are cut before parts are left out. */
const SHORT = 16;

/** The entries of a JSON list of limited length. Of the first that does not fit the texts are cut, and those after it are left out. */
export function jsonEntries<T>(items: Iterable<T>, toEntry: (item: T) => Entry, maxLength: number): string[] {
  const entries: string[] = [];
  let room = maxLength - '[]'.length;
  for (const item of items) {
    const entry = toEntry(item);
    const whole = write(entry, room);
    const json = whole.length <= room ? whole : shortened(entry, room);
    if (json !== undefined) entries.push(json);
    if (json !== whole) break;
    room -= json.length + ','.length;
  }
  return entries;
}

/** Most parts of an entry that there is room for, however short they are. */
export function partsWithin(maxLength: number): number {
  return Math.ceil(maxLength / '{"type":"raw"},'.length);
}

function shortened(entry: Entry, room: number): string | undefined {
  const { parts } = entry;
  const count = Array.isArray(parts) ? parts.length : 1;
  for (let kept = count; kept > 0; kept >>= 1) {
    const less = kept === count ? entry : { ...entry, parts: (parts as readonly Written[]).slice(0, kept) };
    const shortest = kept === 1 ? 1 : SHORT;
    for (let longest = room >> 1; longest >= shortest; longest >>= 1) {
      const json = write(less, longest);
      if (json.length <= room) return json;
    }
  }
  return undefined;
}

/** @param longest characters of a text from outside */
function write(value: Written, longest: number): string {
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value);
  if (value instanceof SaidText) return writeSaid(value, longest);
  if (Array.isArray(value)) return `[${value.map((item: Written) => write(item, longest)).join(',')}]`;
  const fields = Object.entries(value as Entry).flatMap(([name, field]) =>
    field === undefined ? [] : [`${JSON.stringify(name)}:${write(field, longest)}`],
  );
  return `{${fields.join(',')}}`;
}

function writeSaid(said: SaidText, longest: number): string {
  const { text } = said;
  return text.length <= longest && said.isJson ? text : JSON.stringify(cut(text, Math.max(longest, 0)));
}

/** As it is, it keeps numbers that no number of ours can hold, and needs no stack however deep it is. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // models write broken JSON, and tools answer in words
  }
}
