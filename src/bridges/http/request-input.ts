import { InvalidArgumentError } from '../../core/errors/errors.js';

/** Not enumerable: copies and data from outside do not have it. */
const MARK = Symbol.for('advisor-chain.request-input');

/**
 * Runs work on what came with a request, such as its body: what that refuses is answered by 400, with
 * the text of the error. Marks an `InvalidArgumentError`, a `JsonError` and a `TemplateError`, and
 * makes an `InvalidArgumentError` of a `SyntaxError` (of `JSON.parse`) and of an error with `issues`
 * (of a schema); other errors pass.
 *
 * @example const { text } = await readInput(async () => Body.parse(await request.json()))
 */
export function readInput<T>(work: () => Promise<T>): Promise<T>;
export function readInput<T>(work: () => T): T;
export function readInput<T>(work: () => T | Promise<T>): T | Promise<T> {
  try {
    const value = work();
    if (!(value instanceof Promise)) return value;
    return value.catch((error: unknown) => {
      throw ofInput(error);
    });
  } catch (error) {
    throw ofInput(error);
  }
}

/** An error of what came with a request, which is answered by 400; the client sees its message. */
export function invalidInput(message: string, options?: ErrorOptions): InvalidArgumentError {
  return marked(new InvalidArgumentError(message, options));
}

/** True for an error of {@link readInput} and {@link invalidInput}. */
export function isOfInput(error: object): boolean {
  return (error as { readonly [MARK]?: unknown })[MARK] === true;
}

const INPUT_CODES: readonly unknown[] = ['invalid_argument', 'json', 'template'];

function ofInput(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  const { code, issues } = error as { readonly code?: unknown; readonly issues?: unknown };
  if (INPUT_CODES.includes(code)) return marked(error);
  if (error instanceof SyntaxError) return invalidInput('It is not JSON.', { cause: error });
  if (Array.isArray(issues)) return invalidInput('It does not fit its schema.', { cause: error });
  return error;
}

function marked<E extends object>(error: E): E {
  if (Object.isExtensible(error)) Object.defineProperty(error, MARK, { value: true });
  return error;
}
