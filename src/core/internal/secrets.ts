import { describe } from '../errors/describe.js';
import { InvalidArgumentError } from '../errors/errors.js';

/** A secret of keys: at least 32 characters, or 32 bytes. */
export type Secret = string | Uint8Array;

const MIN_LENGTH = 32;

const isSecret = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof Uint8Array) && value.length >= MIN_LENGTH;

/** @throws {@link InvalidArgumentError} that describes the first invalid one without its content */
export function checkSecrets(secrets: unknown, where: string): void {
  const isList = Array.isArray(secrets) && secrets.length > 0;
  const given: readonly unknown[] = isList ? secrets : [secrets];
  if (given.every(isSecret)) return;
  throw new InvalidArgumentError(
    `${where}: secrets must be a text of at least ${MIN_LENGTH} characters, as many bytes, or an array of such, the newest first, not ${shown(given.find((each) => !isSecret(each)))}`,
  );
}

function shown(secret: unknown): string {
  if (typeof secret === 'string') return `a text of ${secret.length}`;
  return secret instanceof Uint8Array ? `${secret.length} bytes` : describe(secret);
}

/** The secrets of an option, the newest first. */
export function secretList(secrets: Secret | readonly Secret[]): readonly Secret[] {
  return typeof secrets === 'string' || secrets instanceof Uint8Array ? [secrets] : secrets;
}
