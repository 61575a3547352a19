import { findAll, type TextRule } from '../../../advisors/guard/guard-rule.js';
import { redact as withoutFindings } from '../../../advisors/guard/redaction.js';
import { secretRule } from '../../../advisors/guard/secret-rule.js';
import type { JsonValue } from '../../core/internal/json.js';
import { reportUnhandledError } from '../../core/internal/notify.js';
import { redact as withoutKeys } from '../../core/internal/redact.js';
import { safeJson } from '../../core/internal/safe-json.js';
import { wellFormed } from '../../core/internal/well-formed.js';

/** Names of fields whose text is a secret, whatever form it has. */
const SECRET_NAME =
  /^(?:.*[-_])?(?:(?:api|access|private|secret|auth|session|client|encryption)[-_]?(?:key|token|secret)|key|token|secrets?|password|passwd|pwd|passphrase|cookie|authorization|credentials?)$|(?:apiKey|Password|Secret|Token|ApiKey|AccessKey|PrivateKey)$/i;
/** Media are no text: what has the form of a secret in them is none. */
const MEDIA_NAME = 'data';
const MIN_MEDIA_LENGTH = 1_000;
/** Words of the library by the name of their field: they are no secrets, and readers of the JSON need them. */
const OWN_WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['role', new Set(['system', 'user', 'assistant', 'tool'])],
  ['type', new Set(['text', 'image', 'audio', 'file', 'raw'])],
]);
const HIDDEN = '***';
/** A field of JSON with a text, as in arguments that a model has written. */
const JSON_FIELD = /"((?:[^"\\]|\\.){1,100})"(\s{0,10}:\s{0,10})"(?:[^"\\]|\\.)*"/g;

/** Removes secrets from texts that leave the inspector, by the rules of the guard. */
export class Redactor {
  private readonly rules: readonly TextRule[] = [secretRule()];

  /** @param redact of the application, for each text, after the rules */
  constructor(private readonly redact?: (text: string) => string) {}

  text(text: string): string {
    const { rules } = this;
    const named = text.includes('":') || text.includes('" :') ? withoutNamed(text) : text;
    const isClean = rules.every((rule) => findAll(rule, named).length === 0);
    const shown = withoutKeys(isClean ? named : withoutFindings(named, rules).text, []);
    return wellFormed(this.redact ? this.redactOwn(this.redact, shown) : shown);
  }

  /** Any value as JSON; null for undefined. */
  json(value: unknown): JsonValue {
    return this.copy(safeJson(value) ?? null);
  }

  private redactOwn(redact: (text: string) => string, text: string): string {
    try {
      const redacted: unknown = redact(text);
      if (typeof redacted === 'string') return redacted;
      throw new TypeError('redact must return a string');
    } catch (error) {
      reportUnhandledError(error);
      return '[not shown: redact failed]';
    }
  }

  private copy(value: JsonValue, name = ''): JsonValue {
    if (typeof value === 'string') return this.copyText(value, name);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.copy(item, name));
    const entries = Object.entries(value).map(([key, item]) => [
      shownKey(key, name),
      this.copy(item, key),
    ]);
    return Object.fromEntries(entries) as JsonValue;
  }

  private copyText(text: string, name: string): string {
    if (SECRET_NAME.test(name) && text !== '') return HIDDEN;
    if (OWN_WORDS.get(name)?.has(text)) return text;
    return name === MEDIA_NAME && text.length > MIN_MEDIA_LENGTH && isBase64(text)
      ? text
      : this.text(text);
  }
}

/** The name of a field; one that could pollute a prototype later has another form, in which files may have it. */
export function shownKey(key: string, owner: string): string {
  const pollutes = key === '__proto__' || (key === 'prototype' && owner === 'constructor');
  return pollutes ? `[${key}]` : wellFormed(key);
}

function withoutNamed(text: string): string {
  return text.replaceAll(JSON_FIELD, (field, name: string, colon: string) =>
    SECRET_NAME.test(name) ? `"${name}"${colon}"${HIDDEN}"` : field,
  );
}

function isBase64(text: string): boolean {
  return /^[\w+/-]+={0,2}$/.test(text);
}
