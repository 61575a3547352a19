type Fetch = typeof fetch;

/**
 * The `openai` client reads the reason of a failure only from a field `error`. Some compatible servers name it otherwise
 * (`detail`, `message`); their bodies are put under `error`, so that the reason is not lost.
 */
export function withErrorBodies(send: Fetch): Fetch {
  return async (...request) => {
    const response = await send(...request);
    if (response.ok) return response;
    const text = await response.text();
    return new Response(withErrorField(text), { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

function withErrorField(text: string): string {
  try {
    const body = JSON.parse(text) as unknown;
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
    if (isObject && 'error' in body) return typeof body.error === 'string' ? JSON.stringify({ error: { message: body.error } }) : text;
    // Google's endpoint wraps the error in a list
    if (Array.isArray(body) && typeof body[0] === 'object') return withErrorField(JSON.stringify(body[0]));
    return JSON.stringify({ error: isObject ? body : { message: text } });
  } catch {
    return JSON.stringify({ error: { message: text.slice(0, 500) } }); // not JSON: a page of a proxy
  }
}
