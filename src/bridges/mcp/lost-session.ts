import type { McpRequest } from './session.js';

/** The part of an error of the package that the answer of a server over HTTP is in. */
interface HttpError {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly data?: { readonly text?: unknown };
}

/**
 * True if a named session may be lost: the specification gives 404 to a request of a session that the
 * server does not know, as after its restart; many servers answer 400 with a text about the session.
 */
export function maySessionBeLost(error: unknown): boolean {
  const { status, message } = error as HttpError;
  return status === 404 || (status === 400 && /session/i.test(String(message)));
}

/**
 * True if a request that may have met a lost session can be sent in a new one: it changes nothing that
 * counts twice, or it did not run, since the server has refused its session and has not answered it.
 */
export function isRepeatable({ effect }: McpRequest, error: unknown): boolean {
  const { status, data } = error as HttpError;
  if (effect !== 'write') return true;
  return status === 404 && !isAnswer(data?.text);
}

/** An answer has the number of its request; a server that refuses a session does not read one. */
function isAnswer(body: unknown): boolean {
  try {
    const answer = JSON.parse(String(body)) as { readonly id?: unknown } | null;
    return typeof answer?.id === 'number';
  } catch {
    return false;
  }
}
