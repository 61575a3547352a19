import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { invalidInput, readInput } from '../http/index.js';
import { refusal } from './openai-error.js';

const MAX_DEPTH = 64;

/**
 * The JSON object in the body of a request. Pages of other sites can send other types of content
 * without asking.
 * @throws {@link Refusal} for a body that is too large, InvalidArgumentError for another content
 */
export async function readBody(request: Request, maxBytes: number): Promise<JsonObject> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json *(?:;|$)/i.test(type))
    throw invalidInput('The content type of the body must be application/json.');
  const bytes = await readBytes(request, maxBytes);
  const body = readInput((): unknown => JSON.parse(textOf(bytes)));
  if (!isPlainObject(body)) throw invalidInput('The body must be a JSON object.');
  checkValue(body);
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

async function readBytes({ headers, body }: Request, max: number): Promise<Uint8Array[]> {
  const tooLarge = refusal(413, 'request_too_large', `The body is longer than ${max} bytes.`);
  if (Number(headers.get('content-length')) > max) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  while (reader) {
    const next = await reader.read();
    if (next.done) break;
    length += next.value.length;
    if (length > max) {
      reader.cancel().catch(() => undefined); // the client may have left
      throw tooLarge;
    }
    chunks.push(next.value);
  }
  return chunks;
}

/** Goes through the value level by level: a deep one would overflow the stack of what copies it. */
function checkValue(body: object): void {
  let level: readonly object[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw invalidInput(`The body is nested deeper than ${MAX_DEPTH}.`);
    if (level.some((value) => Object.hasOwn(value, '__proto__')))
      throw invalidInput('The body has a field __proto__.');
    level = level.flatMap((value) => Object.values(value).filter(isObject));
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
