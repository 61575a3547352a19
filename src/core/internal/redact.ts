/** Names of headers and of query parameters that carry credentials. */
const CREDENTIAL = /auth|key|token|secret|cookie|password/i;
/** Strings in the form of a credential, whatever provider they belong to. */
const KEY_LIKE =
  /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|csk|tgp)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+[\w.~+/=-]{12,}|\/\/[^/\s@]+@/g;
/** Shorter keys are placeholders such as `none` and `ollama`, which are ordinary words as well. */
const MIN_LENGTH = 7;

/** Credentials among keys, in named headers and queries and in an address, longest first. */
export function collectSecrets(
  keys: readonly unknown[],
  named: readonly unknown[],
  address: string,
): readonly string[] {
  const texts = [...keys, ...named.flatMap(credentialsIn), ...credentialsInAddress(address)]
    .filter((text) => typeof text === 'string')
    .flatMap((text) => [text, text.replace(/^\w+\s+/, '')]);
  return [...new Set(texts)]
    .filter((text) => text.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
}

/** @param named headers or a query in any form: an object, a Map, Headers, a list of pairs */
function credentialsIn(named: unknown): readonly unknown[] {
  if (typeof named !== 'object' || named === null) return [];
  const entries: readonly unknown[] =
    Symbol.iterator in named ? [...(named as Iterable<unknown>)] : Object.entries(named);
  return entries.flatMap((entry) =>
    Array.isArray(entry) && CREDENTIAL.test(String(entry[0])) ? [entry[1] as unknown].flat() : [],
  );
}

function credentialsInAddress(address: string): readonly unknown[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  return [username, password, ...credentialsIn(searchParams)];
}

/** Replaces secrets, and whatever has the form of a credential, by `***`. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
    .replaceAll(KEY_LIKE, '***');
}

/** An address without query, fragment and credentials; undefined if it is none. */
export function withoutQuery(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}

/** The error itself, or a redacted copy if it contains a credential anywhere. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (typeof error === 'string') return redact(error, secrets);
  if (typeof error !== 'object' || error === null || !containsSecret(error, secrets)) return error;
  return error instanceof Error
    ? redactedCopy(error, secrets)
    : new Error('an error that cannot be shown without credentials');
}

function redactedCopy(error: Error, secrets: readonly string[]): Error {
  const { name, message, stack = '', cause, code } = error as Error & { readonly code?: unknown };
  const options = cause === undefined ? {} : { cause: withoutSecrets(cause, secrets) };
  const copy = new Error(redact(message, secrets), options);
  return Object.assign(copy, {
    name,
    stack: redact(stack, secrets),
    ...(typeof code === 'string' && { code: redact(code, secrets) }),
  });
}

/** Maximum number of values to visit; a larger error counts as unsafe. */
const MAX_VALUES = 2_000;

function containsSecret(root: object, secrets: readonly string[]): boolean {
  const visited = new Set<unknown>([root]);
  for (const value of visited) {
    if (visited.size > MAX_VALUES) return true;
    if (typeof value === 'string' && redact(value, secrets) !== value) return true;
    if (typeof value !== 'object' || value === null) continue;
    for (const key of Reflect.ownKeys(value))
      visited.add(Reflect.getOwnPropertyDescriptor(value, key)?.value);
    if (Symbol.iterator in value)
      for (const inner of value as Iterable<unknown>) visited.add(inner);
  }
  return false;
}
