import type OpenAI from 'openai';
import { isWire } from './wire-json.js';

/** Names of headers and of query parameters that carry credentials. */
const CREDENTIAL = /auth|key|token|secret|cookie|password/i;
/** What looks like a credential, whoever's it is. */
const KEY_LIKE = /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|csk|tgp)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+[\w.~+/=-]{12,}|\/\/[^/\s@]+@/g;
/** Shorter keys are placeholders for servers that want none, such as `none` and `ollama`; they are words of honest texts too. */
const SHORTEST = 7;

/** The texts of a client that must not appear in an error: keys, and credentials in headers, in the query and in the address. */
export function secretsOf(client: OpenAI): readonly string[] {
  const { apiKey, baseURL } = client;
  const options: unknown = Reflect.get(client, '_options');
  const { adminAPIKey, webhookSecret, defaultHeaders, defaultQuery } = isWire(options) ? options : {};
  const found = [
    apiKey,
    adminAPIKey,
    webhookSecret,
    ...credentialsIn(defaultHeaders),
    ...credentialsIn(defaultQuery),
    ...inAddress(baseURL),
  ];
  const texts = found.filter((text) => typeof text === 'string').flatMap((text) => [text, text.replace(/^\w+\s+/, '')]);
  return [...new Set(texts)].filter((text) => text.length >= SHORTEST).sort((a, b) => b.length - a.length);
}

function credentialsIn(named: unknown): readonly unknown[] {
  if (typeof named !== 'object' || named === null) return [];
  const entries: readonly unknown[] = Symbol.iterator in named ? [...(named as Iterable<unknown>)] : Object.entries(named);
  return entries.flatMap((entry) => (Array.isArray(entry) && CREDENTIAL.test(String(entry[0])) ? [entry[1] as unknown].flat() : []));
}

function inAddress(baseURL: string): readonly string[] {
  if (!URL.canParse(baseURL)) return [];
  const { username, password, searchParams } = new URL(baseURL);
  const raw = [username, password, ...credentialsIn(searchParams).map(String)];
  return raw.flatMap((text) => [text, decode(text)]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text without credentials. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text).replaceAll(KEY_LIKE, '***');
}

/** The error itself, or, if it holds a credential anywhere, an error with its name, code and texts without that. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (typeof error === 'string') return redact(error, secrets);
  if (typeof error !== 'object' || error === null || !holdsSecret(error, secrets)) return error;
  return error instanceof Error ? copyOf(error, secrets) : new Error('an error that cannot be shown without credentials');
}

function copyOf(error: Error, secrets: readonly string[]): Error {
  const { cause, code } = error as Error & { readonly code?: unknown };
  const copy = new Error(redact(error.message, secrets), cause === undefined ? {} : { cause: withoutSecrets(cause, secrets) });
  copy.name = error.name;
  copy.stack = redact(error.stack ?? '', secrets);
  return typeof code === 'string' ? Object.assign(copy, { code: redact(code, secrets) }) : copy;
}

/** Most values that are looked at; what is larger than any honest error counts as unsafe. */
const MAX_VALUES = 2_000;

function holdsSecret(root: object, secrets: readonly string[]): boolean {
  const seen = new Set<unknown>([root]);
  for (const value of seen) {
    if (seen.size > MAX_VALUES) return true;
    if (typeof value === 'string' && redact(value, secrets) !== value) return true;
    if (typeof value === 'object' && value !== null) for (const inner of valuesIn(value)) seen.add(inner);
  }
  return false;
}

function valuesIn(value: object): readonly unknown[] {
  const own = Reflect.ownKeys(value).map((key): unknown => Reflect.getOwnPropertyDescriptor(value, key)?.value);
  return Symbol.iterator in value && !Array.isArray(value) ? [...own, ...(value as Iterable<unknown>)] : own;
}
