import type { Message } from '../chat/message.js';
import { discoveredIn } from './search-result.js';

/** How names of found tools are kept. */
export interface DiscoveryOptions {
  readonly searchToolName: string;
  /** Whether what was found stays when something else is found. */
  readonly accumulate: boolean;
  /** Whether anything is kept from one turn to the next. */
  readonly rememberDiscovered: boolean;
  readonly maxRemembered: number;
}

/** Names of the tools that each conversation has found, in order of discovery. */
export class Discoveries {
  private readonly found = new Map<string, readonly string[]>();

  constructor(private readonly options: DiscoveryOptions) {}

  /** What a turn begins with. A conversation that is not known here, as after a restart, is read from its history. */
  before(conversation: string | undefined, messages: readonly Message[]): readonly string[] {
    const { rememberDiscovered, searchToolName, accumulate, maxRemembered } = this.options;
    if (!rememberDiscovered) return [];
    const known = conversation === undefined ? undefined : this.found.get(conversation);
    const names = known ?? discoveredIn(messages, searchToolName, accumulate).slice(-maxRemembered);
    if (conversation !== undefined) this.found.set(conversation, names);
    return names;
  }

  /**
   * A turn has ended; nothing is kept of a conversation that was deleted meanwhile.
   * @param before what it began with
   * @param after what it ended with
   */
  keep(conversation: string, before: readonly string[], after: readonly string[]): void {
    const { accumulate, maxRemembered } = this.options;
    const known = this.found.get(conversation);
    if (!known) return;
    // another turn of the conversation may have ended meanwhile
    const others = accumulate ? known : [];
    const locked = new Set(before.filter((name) => !after.includes(name)));
    const names = new Set([...others.filter((name) => !locked.has(name)), ...after]);
    this.found.set(conversation, [...names].slice(-maxRemembered));
  }

  delete(conversation: string): void {
    this.found.delete(conversation);
  }
}
