import { CONVERSATION_ID } from '../../src/core/chat/context.js';
import type { ApprovalRequest } from '../../src/core/chat/paused-turn.js';
import { checkOption, TEXT } from '../../src/core/internal/options.js';
import { parseJson } from '../../src/core/internal/json.js';
import { sha256Hex, truncate } from '../../src/core/internal/text.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import type { ToolInvocation } from '../../src/core/tool/tool.js';
import type { ScopeOfOwner } from './person.js';
import { bindingOf, fingerprintOf } from './pending-requests.js';
import { updateRecord } from './update-record.js';

/** Settings of remembered decisions. */
export interface RememberSettings {
  readonly where: string;
  readonly store: KeyValueStore;
  readonly scope: ScopeOfOwner | undefined;
  readonly remember: 'call' | 'tool';
  readonly ttl: number;
}

type Scope = ApprovalRequest['scopes'][number];
type RememberedScope = Exclude<Scope, 'once'>;

/** A decision that also allows later calls. */
export type Remembered = {
  readonly scope: RememberedScope;
  readonly by?: string;
};

/** The owner and the conversation of remembered decisions, as `scope` and `CONVERSATION_ID` have them. */
export interface RememberedOf {
  readonly owner?: string | undefined;
  readonly conversationId?: string | undefined;
}

/** A remembered decision, as a list shows it. */
export interface RememberedDecision extends Remembered {
  /** Of the decision in its scope. */
  readonly id: string;
  readonly toolName: string;
  /** Arguments of the calls that it allows, at most 1,000 characters; undefined if it allows all. */
  readonly arguments?: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

type Entry = Omit<RememberedDecision, 'scope'>;

/** Decisions of a scope: the oldest is asked for again beyond. */
const MAX_ENTRIES = 1_000;
const MAX_SHOWN = 1_000;

/**
 * Decisions that allow later calls, too: in their conversation, or always for their owner. Each scope
 * is one record, so that a list is complete and a revoked decision counts nowhere.
 */
export class RememberedApprovals {
  constructor(private readonly settings: RememberSettings) {}

  /** The scopes that a decision about a call may have. */
  scopesOf(call: ToolInvocation): readonly Scope[] {
    return ['once', ...keysOf(this.ownersOf(call)).map(([scope]) => scope)];
  }

  /** The decision that allows a call; undefined if there is none. */
  async find(call: ToolInvocation): Promise<Remembered | undefined> {
    const id = this.idOf(call);
    const found = (await this.list(this.ownersOf(call))).find((each) => each.id === id);
    return found && { scope: found.scope, ...(found.by !== undefined && { by: found.by }) };
  }

  async add(call: ToolInvocation, scope: Scope, by: string | undefined): Promise<void> {
    const found = keysOf(this.ownersOf(call)).find(([each]) => each === scope);
    if (!found) return;
    const { name: toolName, arguments: text } = call.call;
    const shown = this.settings.remember === 'call' && { arguments: truncate(text, MAX_SHOWN) };
    const entry: Entry = { id: this.idOf(call), toolName, ...shown, ...(by !== undefined && { by }), at: Date.now() }; // prettier-ignore
    await this.update(found[1], (entries) =>
      [...entries.filter(({ id }) => id !== entry.id), entry].slice(-MAX_ENTRIES),
    );
  }

  async list(of: RememberedOf): Promise<readonly RememberedDecision[]> {
    const lists = keysOf(of).map(async ([scope, key]) => {
      const entries = this.entriesIn(await this.settings.store.get(key));
      return entries.map((entry) => ({ ...entry, scope }));
    });
    return (await Promise.all(lists)).flat();
  }

  /** False if there is no such decision. */
  async revoke(of: RememberedOf, id: string): Promise<boolean> {
    let isFound = false;
    for (const [, key] of keysOf(of)) {
      const isChanged = await this.update(key, (entries) => entries.filter((e) => e.id !== id));
      isFound ||= isChanged;
    }
    return isFound;
  }

  private update(
    key: string,
    change: (entries: readonly Entry[]) => readonly Entry[],
  ): Promise<boolean> {
    const { store, ttl } = this.settings;
    return updateRecord({ store, key, ttl, read: (record) => this.entriesIn(record) }, change);
  }

  /** Those whose lifetime is not over. */
  private entriesIn(record: string | undefined): readonly Entry[] {
    if (record === undefined) return [];
    const entries = parseJson(record) as unknown as readonly Entry[];
    return entries.filter(({ at }) => at + this.settings.ttl > Date.now());
  }

  private idOf(call: ToolInvocation): string {
    const { remember } = this.settings;
    const what = remember === 'call' ? bindingOf(call) : fingerprintOf(call.tool);
    return sha256Hex(JSON.stringify([remember, what]));
  }

  private ownersOf(call: ToolInvocation): RememberedOf {
    const owner = this.settings.scope?.(call);
    if (owner !== undefined) checkOption(this.settings.where, 'the result of scope', owner, TEXT);
    return { owner, conversationId: call.context.advisorContext.get(CONVERSATION_ID) };
  }
}

/** The records of decisions, by scope. */
function keysOf({
  owner,
  conversationId,
}: RememberedOf): readonly (readonly [RememberedScope, string])[] {
  const keyOf = (...parts: readonly (string | null)[]): string =>
    `approvals ${sha256Hex(JSON.stringify([...parts, owner ?? null]))}`;
  return [
    ...(conversationId === undefined
      ? []
      : [['conversation', keyOf('c', conversationId)] as const]),
    ...(owner === undefined ? [] : [['always', keyOf('a')] as const]),
  ];
}
