import type { Attributes, AttributeValue } from '@opentelemetry/api';
import { cut } from '../chat/cut.js';

/** Attributes as a span can take them: none without a value, and no text beyond the longest. */
export class AttributeSet {
  readonly values: Attributes = {};

  /** @param maxLength characters of a text, and of all texts of a list together */
  constructor(private readonly maxLength: number) {}

  add(name: string, value: AttributeValue | null | undefined): void {
    if (value === undefined || value === null) return;
    this.values[name] = this.shortened(value);
  }

  addAll(attributes: Attributes): void {
    for (const name of Object.keys(attributes)) this.add(name, attributes[name]);
  }

  private shortened(value: AttributeValue): AttributeValue {
    if (typeof value === 'string') return cut(value, this.maxLength);
    return Array.isArray(value) ? (this.fitting(value as readonly AttributeValue[]) as AttributeValue) : value;
  }

  /** As many items of a list as there is room for. */
  private fitting(items: readonly AttributeValue[]): readonly AttributeValue[] {
    const kept: AttributeValue[] = [];
    let room = this.maxLength;
    for (const item of items) {
      if (room <= 0) break;
      const short = typeof item === 'string' ? cut(item, room) : item;
      kept.push(short);
      room -= Math.max(String(short).length, 1);
    }
    return kept;
  }
}
