import { isPlainObject } from '../../core/internal/options.js';

/**
 * Maximum number of bytes of an error that are read. Honest ones that repeat the whole request are
 * shorter; the time to read one is far below a frame.
 */
const MAX_BYTES = 262_144;

/**
 * Reads the error in a failed response: the field `error` of its body or the whole; of a page its
 * text. A body that is longer than 256 KiB or that breaks off counts as far as it was read.
 */
export async function readError(response: Response): Promise<unknown> {
  const { text, cut } = await readStart(response);
  try {
    const body = unwrap(JSON.parse(text)) ?? null;
    return isPlainObject(body) && isPlainObject(body['error']) ? body['error'] : body;
  } catch {
    const plain = plainText(text);
    // half of a key is not recognized as one
    return cut ? plain.slice(0, Math.max(plain.lastIndexOf(' '), 0)) : plain;
  }
}

async function readStart({ body }: Response): Promise<{ text: string; cut: boolean }> {
  const source: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let left = MAX_BYTES;
  try {
    while (source) {
      const { done, value } = await source.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, left), { stream: true });
      left -= value.byteLength;
      if (left >= 0) continue;
      void source.cancel().catch(() => undefined);
      return { text, cut: true };
    }
  } catch {
    return { text, cut: true }; // the status matters more than a broken connection
  }
  return { text: text + decoder.decode(), cut: false };
}

/** The body itself; Google wraps errors in a list. */
export function unwrap(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body;
}

/**
 * The text of an HTML page, such as the error page of a proxy. Each pattern matches wherever it
 * begins, so that no character is looked at again: a page of `<` alone takes linear time.
 */
function plainText(html: string): string {
  const page = html.replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1[^>]*>?|$)/gi, ' ');
  const end = page.lastIndexOf('>') + 1;
  return (page.slice(0, end).replaceAll(/<[^>]*>/g, ' ') + page.slice(end))
    .replaceAll(/\s+/g, ' ')
    .trim();
}
