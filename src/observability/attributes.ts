import type { Attributes, AttributeValue } from '@opentelemetry/api';
import { truncate } from '../internal/text.js';

/** Attributes of a span or an event: entries without a value are skipped, long texts truncated. */
export class AttributeSet {
  readonly values: Attributes = {};

  /** @param maxLength maximum characters of a text, and of all texts of a list together */
  constructor(private readonly maxLength: number) {}

  add(name: string, value: AttributeValue | null | undefined): void {
    if (typeof value === 'string') this.values[name] = truncate(value, this.maxLength);
    else if (Array.isArray(value)) this.values[name] = this.truncateList(value) as AttributeValue;
    else if (value !== undefined && value !== null) this.values[name] = value;
  }

  addAll(attributes: Attributes): void {
    for (const name of Object.keys(attributes)) this.add(name, attributes[name]);
  }

  private truncateList(items: readonly unknown[]): readonly unknown[] {
    const kept: unknown[] = [];
    let room = this.maxLength;
    for (const item of items) {
      if (room <= 0) break;
      const short = typeof item === 'string' ? truncate(item, room) : item;
      kept.push(short);
      room -= Math.max(String(short).length, 1);
    }
    return kept;
  }
}
