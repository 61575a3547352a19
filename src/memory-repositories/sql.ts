import { checkOption, rule } from '../internal/options.js';
import type { EncodedEntry, EncodedLog } from '../memory/checked-chat-memory-repository.js';

/** A conversation joined with one of its messages, whose columns are null without messages. */
interface LogRow extends EncodedEntry {
  /** Version of the conversation. */
  readonly head: number | string;
  readonly system: string | null;
}

/** Converts the rows of a conversation, in the order of their versions; none if it is missing. */
export function toLog(rows: readonly unknown[]): EncodedLog {
  const entries = rows as readonly LogRow[];
  const { head = 0, system = null } = entries[0] ?? {};
  return { version: head, system, entries: entries.filter(({ version }) => version !== null) };
}

const NAME = rule(
  'a letter or "_" and then up to 39 letters, digits or "_"',
  (name) => typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name),
);

/**
 * Quotes a name from the configuration with a suffix.
 * @throws {@link InvalidArgumentError} if it could be anything but a name in a query
 */
export function quoteName(where: string, option: string, name: string, suffix = ''): string {
  checkOption(where, option, name, NAME);
  return `"${name}${suffix}"`;
}
