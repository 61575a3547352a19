import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ToolCall } from '../../core/chat/message.js';
import { DistinctIds } from '../../core/chat/open-calls.js';
import { nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { toCallMetadata } from './kept-parts.js';

/** A call while its pieces arrive. */
interface Slot {
  readonly index: number;
  readonly id: string;
  name: string;
  /** Arguments that were emitted. */
  emitted: string;
  /** The whole arguments, once the call is there. */
  arguments: string | undefined;
  options: unknown;
  /** True if the provider runs the call, as its end has shown. */
  isForeign: boolean;
}

/** The calls of one answer, in the order in which they began. */
export class CallSlots {
  private readonly slots: Slot[] = [];
  /** By the id of the provider. */
  private readonly open = new Map<string, Slot>();
  private readonly ids = new DistinctIds();
  /** Inputs of tools that the provider runs. */
  private readonly foreign = new Set<unknown>();

  constructor(private readonly emit: (event: ChatEvent) => void) {}

  /** @returns true if a call of ours began */
  start({ id, toolName, providerExecuted, inputEncoding }: JsonObject): boolean {
    // text that is not JSON is encoded only in the whole call
    if (providerExecuted === true || inputEncoding === 'text') {
      this.foreign.add(id);
      return false;
    }
    this.begin(nonEmptyString(id) ?? '', nonEmptyString(toolName) ?? '');
    return true;
  }

  addDelta({ id, delta }: JsonObject): void {
    const slot = this.open.get(nonEmptyString(id) ?? '');
    if (slot && !this.foreign.has(id) && typeof delta === 'string') this.write(slot, delta);
  }

  /**
   * Adds a whole call, which counts more than its deltas.
   * @returns true if the call began with it
   */
  add(part: JsonObject): boolean {
    const id = nonEmptyString(part['toolCallId']) ?? '';
    const name = nonEmptyString(part['toolName']) ?? '';
    const known = this.open.get(id);
    const slot = known ?? this.begin(id, name);
    const { input, providerMetadata } = part;
    const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    if (text.startsWith(slot.emitted)) this.write(slot, text.slice(slot.emitted.length));
    slot.name = name || slot.name;
    slot.arguments = text;
    slot.options = providerMetadata ?? slot.options;
    this.open.delete(id); // an id that is used again is another call
    return known === undefined;
  }

  /** Leaves a call to the provider. */
  leave({ toolCallId }: JsonObject): void {
    const slot = this.open.get(nonEmptyString(toolCallId) ?? '');
    if (slot) slot.isForeign = true;
  }

  /** True if the call that began at this position is one of ours. */
  isOwn(index: number): boolean {
    return this.slots[index]?.isForeign === false;
  }

  toToolCalls(provider: string): readonly ToolCall[] {
    const own = this.slots.filter(({ isForeign }) => !isForeign);
    return own.map(({ id, name, emitted, arguments: text = emitted, options }) => {
      const metadata = toCallMetadata(provider, options);
      return { id, name, arguments: text, ...(metadata && { metadata }) };
    });
  }

  private begin(given: string, name: string): Slot {
    const index = this.slots.length;
    const id = this.ids.next(given, index);
    const pieces = { emitted: '', arguments: undefined, options: undefined, isForeign: false };
    const slot = { index, id, name, ...pieces };
    this.slots.push(slot);
    this.open.set(given, slot);
    this.emit({ type: 'tool-call-delta', index, id, name, arguments: '' });
    return slot;
  }

  private write(slot: Slot, text: string): void {
    if (text === '') return;
    slot.emitted += text;
    this.emit({ type: 'tool-call-delta', index: slot.index, arguments: text });
  }
}
