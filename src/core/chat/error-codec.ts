import * as errors from '../errors/errors.js';
import { AdvisorChainError } from '../errors/advisor-chain-error.js';
import { jsonData } from '../internal/json-data.js';
import type { JsonValue } from '../internal/json.js';
import { describe } from '../errors/describe.js';

/** An error as JSON. */
export type EncodedError = {
  readonly name: string;
  readonly message: string;
  /** The code of an error of this package, or of Node.js. */
  readonly code?: string;
  /** True for an error of this package. */
  readonly own?: true;
  readonly fields?: JsonValue;
  readonly cause?: EncodedError;
};

/** Causes beyond are left out. */
const MAX_CAUSES = 5;
const LEFT_OUT = ['name', 'message', 'stack', 'cause', 'code', 'run'];

/**
 * Encodes an error, its causes, and its fields as far as JSON can hold them. Of an error of the
 * application its name, message, code and causes remain.
 */
export function encodeError(error: unknown, causes = MAX_CAUSES): EncodedError {
  if (!(error instanceof Error) && !AdvisorChainError.isInstance(error))
    return { name: 'Error', message: typeof error === 'string' ? error : describe(error) };
  const { name, message, cause, code } = error as Error & { readonly code?: unknown };
  const isOwn = AdvisorChainError.isInstance(error);
  const fields = isOwn ? fieldsOf(error) : undefined;
  return {
    name: String(name),
    message: String(message),
    ...(typeof code === 'string' && { code }),
    ...(isOwn && { own: true }),
    ...(fields && { fields }),
    ...(cause !== undefined && causes > 0 && { cause: encodeError(cause, causes - 1) }),
  };
}

function fieldsOf(error: object): JsonValue | undefined {
  const known = Object.entries(error).flatMap(([key, value]) => {
    const data = LEFT_OUT.includes(key) || value === undefined ? undefined : jsonData(value);
    return data === undefined ? [] : [[key, data] as const];
  });
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

type ErrorClass = { readonly prototype: Error };

/** Class of a code, which is its name: decisions depend on the code, and on `instanceof`. */
function classOf(code: string): ErrorClass | undefined {
  const name = code.replace(/(?:^|_)[a-z]/g, (start) => start.slice(-1).toUpperCase());
  return (errors as Readonly<Record<string, ErrorClass>>)[`${name}Error`];
}

/** Classes of the language, by name. */
const NATIVE: Readonly<Record<string, ErrorClass>> = {
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  URIError,
};

const WRITABLE = { configurable: true, writable: true, enumerable: true };
const BRAND = Symbol.for('advisor-chain.error');

/** An error with the class, the code and the fields of the encoded one, and a stack of the replay. */
export function decodeError(encoded: EncodedError): Error {
  const { name, message, code, own, fields, cause } = encoded;
  const error = new Error(message, cause && { cause: decodeError(cause) });
  const known = own ? (classOf(code ?? '') ?? AdvisorChainError) : NATIVE[name];
  if (known) Object.setPrototypeOf(error, known.prototype as object);
  if (own) Object.defineProperty(error, BRAND, { value: true, enumerable: true });
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, ...WRITABLE });
  return Object.assign(error, fields, code !== undefined && { code });
}
