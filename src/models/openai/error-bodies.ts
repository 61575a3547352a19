import { isWire, type Wire } from './wire-json.js';

type Fetch = typeof fetch;

/**
 * The `openai` client reads the reason of a failure only from a field `error`. Some compatible servers name it otherwise
 * (`detail`, `message`), or answer with a text or a page; that is put under `error`, so that the reason is not lost.
 */
export function withErrorBodies(send: Fetch): Fetch {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.status < 400 || response.status > 599) return response;
    const { status, statusText, headers } = response;
    return new Response(JSON.stringify(await readErrorBody(response)), { status, statusText, headers });
  };
}

/** The body of a response that is a failure, with what the server says of it under `error`. */
export async function readErrorBody(response: Response): Promise<{ readonly error: Wire }> {
  return { error: errorIn(await response.text()) };
}

function errorIn(text: string): Wire {
  try {
    return errorOf(JSON.parse(text));
  } catch {
    return { message: readable(text) };
  }
}

function errorOf(body: unknown): Wire {
  if (Array.isArray(body) && isWire(body[0])) return errorOf(body[0]); // Google's endpoint wraps the error in a list
  if (!isWire(body)) return { message: typeof body === 'string' ? readable(body) : '' };
  const { error, ...others } = body;
  if (isWire(error)) return error;
  return typeof error === 'string' ? { ...others, message: error } : others;
}

/** The words of a page of a proxy, or of a plain text. */
function readable(text: string): string {
  const words = text
    .replaceAll(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
  return words.trim();
}
