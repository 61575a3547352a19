import type { Scalar } from '../../core/chat/document.js';
import { wellFormed } from '../../core/internal/well-formed.js';

const STORABLE = /^[^\0\p{Surrogate}]*$/u;

/** True for a string that every database can keep. */
export function isStorable(text: unknown): text is string {
  return typeof text === 'string' && STORABLE.test(text);
}

/** A text with U+FFFD in place of NUL and of unpaired surrogates, which some databases cannot keep. */
export function storableText(text: string): string {
  const whole = wellFormed(text);
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
}

/** A value with a storable text. */
export function storable<T extends Scalar>(value: T): T | string {
  return typeof value === 'string' ? storableText(value) : value;
}

/** True for a single value of metadata. */
export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}
