import { CONVERSATION_ID } from '../chat/context.js';
import type { ApprovalRequest } from '../chat/paused-turn.js';
import { checkOption, isPlainObject, nonEmptyString, TEXT } from '../internal/options.js';
import { parseJson } from '../internal/json.js';
import { sha256Hex } from '../internal/text.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import type { ToolInvocation } from '../tool/tool.js';
import { bindingOf, fingerprintOf } from './pending-requests.js';

/** Settings of remembered decisions. */
export interface RememberSettings {
  readonly where: string;
  readonly store: KeyValueStore;
  readonly scope: ((call: ToolInvocation) => string | undefined) | undefined;
  readonly remember: 'call' | 'tool';
  readonly ttl: number;
}

type Scope = ApprovalRequest['scopes'][number];

/** A decision that also allows later calls. */
export type Remembered = {
  readonly scope: Exclude<Scope, 'once'>;
  readonly by?: string;
};

/** Decisions that allow later calls, too: in their conversation, or always for their owner. */
export class RememberedApprovals {
  constructor(private readonly settings: RememberSettings) {}

  /** The scopes that a decision about a call may have. */
  scopesOf(call: ToolInvocation): readonly Scope[] {
    const keys = this.keysOf(call);
    return ['once', ...keys.map(([scope]) => scope)];
  }

  /** The decision that allows a call; undefined if there is none. */
  async find(call: ToolInvocation): Promise<Remembered | undefined> {
    for (const [scope, key] of this.keysOf(call)) {
      const value = await this.settings.store.get(key);
      if (value === undefined) continue;
      const entry = parseJson(value);
      const by = isPlainObject(entry) ? nonEmptyString(entry['by']) : undefined;
      return by === undefined ? { scope } : { scope, by };
    }
    return undefined;
  }

  async add(call: ToolInvocation, scope: Scope, by: string | undefined): Promise<void> {
    const found = this.keysOf(call).find(([each]) => each === scope);
    if (!found) return;
    const value = JSON.stringify(by === undefined ? {} : { by });
    await this.settings.store.set(found[1], value, { ttl: this.settings.ttl });
  }

  private keysOf(call: ToolInvocation): readonly (readonly [Remembered['scope'], string])[] {
    const { remember, where } = this.settings;
    const owner = this.settings.scope?.(call);
    if (owner !== undefined) checkOption(where, 'the result of scope', owner, TEXT);
    const conversation = call.context.advisorContext.get(CONVERSATION_ID);
    const what = remember === 'call' ? bindingOf(call) : fingerprintOf(call.tool);
    const keyOf = (...parts: readonly (string | null)[]): string =>
      `approval ${sha256Hex(JSON.stringify([...parts, owner ?? null, remember, what]))}`;
    return [
      ...(conversation === undefined ? [] : [['conversation', keyOf('c', conversation)] as const]),
      ...(owner === undefined ? [] : [['always', keyOf('a')] as const]),
    ];
  }
}
