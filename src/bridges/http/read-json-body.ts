import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  checkOptions,
  integer,
  isPlainObject,
  type JsonObject,
} from '../../core/internal/options.js';
import { withHttpError } from './http-error.js';
import { invalidInput, readInput } from './request-input.js';

/** Options of {@link readJsonInput}. */
export interface ReadJsonInputOptions {
  /** Maximum length of the body in bytes, >= 1. @default 4_194_304 */
  readonly maxBytes?: number | undefined;
}

/**
 * The JSON object in the body of a request. Refused by status 400: no JSON in UTF-8, a value nested deeper than 64 levels, and
 * other content types than `application/json`, which pages of other sites could send without asking; by 413: a longer body,
 * of which no more is read.
 * @throws InvalidArgumentError for a body that is refused; for invalid options
 *
 * @example const { question } = await readJsonInput(request)
 */
export async function readJsonInput(
  request: Request,
  options: ReadJsonInputOptions = {},
): Promise<JsonObject> {
  checkOptions('readJsonInput', options, { maxBytes: integer(1) });
  const { maxBytes = 4_194_304 } = options;
  return readJsonBody(request, { maxBytes, tooLarge });
}

function tooLarge(message: string): Error {
  const shown = { status: 413, code: 'invalid_argument', message };
  return withHttpError(new InvalidArgumentError(message), shown);
}

/** Bounds of a body. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** @default 64 */
  readonly maxDepth?: number;
  /** The error for a body that is longer. */
  readonly tooLarge: (message: string) => Error;
}

/**
 * The JSON object in the body of a request. Pages of other sites can send other types of content
 * without asking.
 * @throws the error of the bounds for a body that is too large, InvalidArgumentError for another content
 */
export async function readJsonBody(request: Request, bounds: BodyBounds): Promise<JsonObject> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json *(?:;|$)/i.test(type))
    throw invalidInput('The content type of the body must be application/json.');
  const bytes = await readBytes(request, bounds);
  const body = readInput((): unknown => JSON.parse(textOf(bytes)));
  if (!isPlainObject(body)) throw invalidInput('The body must be a JSON object.');
  checkValue(body, bounds.maxDepth ?? 64);
  return body;
}

function textOf(bytes: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    const text = bytes.map((chunk) => decoder.decode(chunk, { stream: true })).join('');
    return text + decoder.decode();
  } catch (cause) {
    throw invalidInput('The body is not UTF-8.', { cause });
  }
}

async function readBytes(
  { headers, body }: Request,
  { maxBytes, tooLarge }: BodyBounds,
): Promise<Uint8Array[]> {
  const error = tooLarge(`The body is longer than ${maxBytes} bytes.`);
  if (Number(headers.get('content-length')) > maxBytes) throw error;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  while (reader) {
    const next = await reader.read();
    if (next.done) break;
    length += next.value.length;
    if (length > maxBytes) {
      reader.cancel().catch(() => undefined); // the client may have left
      throw error;
    }
    chunks.push(next.value);
  }
  return chunks;
}

/** Goes through the value level by level: a deep one would overflow the stack of what copies it. */
function checkValue(body: object, maxDepth: number): void {
  let level: readonly object[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw invalidInput(`The body is nested deeper than ${maxDepth}.`);
    if (level.some((value) => Object.hasOwn(value, '__proto__')))
      throw invalidInput('The body has a field __proto__.');
    level = level.flatMap((value) => Object.values(value).filter(isObject));
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
